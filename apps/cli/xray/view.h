// An x-ray as a person reads it: names of tokens, what the weights say of the config, and all of it in a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "addnorm/data/tokenizer.h"
#include "addnorm/probe/xray.h"
#include "cli/models/placement_check.h"
#include "cli/terminal/terminal.h"

namespace addnorm::cli {

/// Texts of tokens: "\"The\"", "\"\\n\""; of those that decode to nothing their piece of the vocabulary, "[CLS]", or "token 101"
/// where it has none.
class TokenNames {
 public:
  explicit TokenNames(const Tokenizer& tokenizer);
  std::string operator()(std::int32_t token) const;

 private:
  const Tokenizer& tokenizer_;
  std::unordered_map<std::int32_t, std::string> pieces_;
};

/// What the config of a checkpoint says of its norms, compared with the weights: one note where config and weights agree, or
/// nothing is known; else warnings, which say what their figures are of. `source`: where the tokens come from.
void report_placement(const ModelConfig& config, const Placement& placement, const std::string& source, XrayResult& result);

/// The model, a table of every stack, layers and norms, what is missing, and the findings as a paragraph. Columns that do not fit
/// the terminal are left out, the least important first.
std::string xray_view(const XrayResult& result, const Terminal& terminal);

}  // namespace addnorm::cli
