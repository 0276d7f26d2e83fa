#include "data/tokenizer/steps/regex_dialect.h"

#include <algorithm>
#include <array>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

// Oniguruma's \w has no joiners; outside of brackets it has the fractions and raised digits of Latin-1 besides.
constexpr std::string_view kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
constexpr std::string_view kWordOfLatin1 = R"(\u00B2\u00B3\u00B9\u00BC-\u00BE)";

constexpr std::string_view kLetterEscapes = "sSdDwWpPnrtfaexu";  // of which both have the same idea, \w apart

class Translation {
 public:
  explicit Translation(std::string_view pattern) : pattern_(pattern) {}

  std::string run() {
    while (at_ < pattern_.size()) {
      if (next("\\"))
        escape();
      else if (depth_ > 0)
        in_brackets();
      else
        outside();
    }
    return std::move(result_);
  }

 private:
  bool next(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }

  void copy(std::size_t count) {
    result_ += pattern_.substr(at_, count);
    at_ += count;
  }

  [[noreturn]] void refuse(std::size_t length) const {
    throw DataError(concat("the pattern has '", pattern_.substr(at_, length), "' at byte ", at_,
                           "; it is not supported, because libraries of regular expressions differ there"));
  }

  /// So many characters, and with the braces behind them if there are some: \p{L}.
  std::size_t braces_behind(std::size_t count) const {
    const std::size_t end = pattern_.find('}', at_ + count);
    return pattern_.substr(at_ + count).starts_with("{") && end != std::string_view::npos ? end + 1 - at_ : count;
  }

  void escape() {
    const char kind = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
    const bool letter = (kind >= 'a' && kind <= 'z') || (kind >= 'A' && kind <= 'Z');
    const bool digit = kind >= '0' && kind <= '9';
    if (digit || (letter && kLetterEscapes.find(kind) == std::string_view::npos)) refuse(2);
    if ((kind == 'p' || kind == 'P') && pattern_.substr(at_ + 2).starts_with("{^")) refuse(4);
    if (kind != 'w' && kind != 'W')
      return copy(std::string_view("pPxu").find(kind) == std::string_view::npos ? 2 : braces_behind(2));
    result_ += concat(kind == 'w' ? "[" : "[^", kWord, depth_ == 0 ? kWordOfLatin1 : "", "]");
    at_ += 2;
  }

  void in_brackets() {
    for (const std::string_view otherwise : {"[:", "--"})
      if (next(otherwise)) refuse(2);
    if (next("[")) return open();
    if (next("]")) --depth_;
    copy(1);
  }

  void open() {
    ++depth_;
    copy(1);
    if (next("^")) copy(1);
    if (next("]")) refuse(1);
  }

  void outside() {
    static constexpr std::array<std::string_view, 8> kGroups{"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?i)"};
    if (next("[")) return open();
    if (next("(?")) {
      const auto group = std::ranges::find_if(kGroups, [this](std::string_view one) { return next(one); });
      const bool in_the_middle = next("(?i)") && at_ > 0;  // Ruby takes the alternatives behind it along
      if (group == kGroups.end() || in_the_middle) refuse(3);
      return copy(group->size());
    }
    if (next("}+")) refuse(2);  // of {1,3}+: repeated once more there, possessive here
    copy(1);
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  int depth_ = 0;  // of brackets
  std::string result_;
};

}  // namespace

std::string pattern_for_icu(std::string_view pattern) { return Translation(pattern).run(); }

}  // namespace addnorm
