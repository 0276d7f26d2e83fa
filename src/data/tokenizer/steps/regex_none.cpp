// Without patterns: for platforms on which Oniguruma cannot be opened.
#include "addnorm/core/error.h"
#include "data/tokenizer/steps/regex.h"

namespace addnorm {

struct Regex::Pattern {};

Regex::Regex(std::string_view) {
  throw DataError("this build of addnorm runs no patterns (ADDNORM_PATTERNS=none); build it with Oniguruma");
}
Regex::Regex(Regex&&) noexcept = default;
Regex::~Regex() = default;

std::vector<std::pair<std::size_t, std::size_t>> Regex::matches(std::string_view) const { return {}; }

}  // namespace addnorm
