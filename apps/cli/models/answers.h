// How a trained model is asked, and how a run that has ended is shown: answers or a sample, figures, JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "addnorm/model/generate.h"
#include "addnorm/train/run.h"
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

/// Some text of a model just trained, or its answers to some pairs of its data, for a first impression. Models that write
/// nothing: nothing.
void show_sample(const std::filesystem::path& run, const RunData& data, std::ostream& out, std::ostream& notes);

/// The figures of an evaluation that mean something for this kind of model, by their names in JSON, in the order in which a
/// person should read them: loss, perplexity, bits_per_byte, accuracy, exact_match.
std::vector<std::pair<std::string, double>> measures(const Evaluation& evaluation, ModelKind kind, bool pairs);
std::string summary_json(const std::filesystem::path& run, const RunResult& result);

}  // namespace addnorm::cli
