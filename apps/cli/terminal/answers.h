// How a trained model is asked: where text begins, and what stands before an answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "addnorm/model/generate.h"
#include "cli/models/run_model.h"

namespace addnorm::cli {

/// Where generated text begins without a prompt: after what the tokenizer puts before a text, else after a line end, else after
/// the begin token, else after any token.
struct TextStart {
  std::int32_t token;
  std::string summary;  ///< "it begins at the start of a line"
};
TextStart text_start(const Tokenizer& tokenizer);

/// With which a text or an answer is over: what the checkpoint says (eos_token_id), else the tokenizer's end token, or where
/// there is none that of the next beginning; none: [].
std::vector<std::int32_t> end_tokens(const RunModel& run);

/// The same decoding without ids that the tokenizer has no text for: vocabularies of models are often padded.
std::unique_ptr<Decoding> within_tokenizer(std::unique_ptr<Decoding> decoding, const Tokenizer& tokenizer);

/// What stands before an answer, and a fresh decoding that can be asked for it, within_tokenizer: drawn, greedy or by beams.
struct Question {
  std::unique_ptr<Decoding> decoding;
  std::vector<std::int32_t> prompt;
  std::size_t room;  ///< most tokens of an answer
};

/// Tokens of a source that a model of pairs takes.
std::size_t longest_source(const RunModel& run);
/// Of a model of pairs, in either form; the source is not longer than that. DataError: the tokenizer has no begin and end tokens.
Question question(const RunModel& run, std::vector<std::int32_t> source);

}  // namespace addnorm::cli
