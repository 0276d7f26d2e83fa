// What a model reads while it is looked into: a file, the data it was trained for, or sentences of our own.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "addnorm/data/dataset.h"
#include "run_model.h"

namespace addnorm::cli {

struct XrayText {
  std::vector<Batch> batches{};
  Batch sample{};        ///< some of it with nothing masked: what placements of norms are tried on
  std::string source{};  ///< "40 built-in sentences", "the validation data of the run"
};

/// At most `tokens` tokens (one sequence or sample at least), as the kind of model takes them: windows of `window` tokens for a
/// language model (0: 128, or what it takes), lines for an encoder, whose tokens are masked where it has a head and a mask.
/// file: "" for the data of the run where it has some, and our sentences otherwise; "-": the standard input.
/// DataError: no text, too little of it, no tokenizer. `notes` hears what is done instead of what was meant.
XrayText xray_text(const RunModel& run, const std::string& folder, const std::string& file, std::size_t tokens,
                   std::size_t window, std::ostream& notes);

/// The text of a token for a person: "\"The\"", "\"\\n\"", "token 101" where it stands for none.
std::string token_text(const Tokenizer& tokenizer, std::int32_t token);

}  // namespace addnorm::cli
