// What tokens are called before a person.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "addnorm/data/tokenizer.h"

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

}  // namespace addnorm::cli
