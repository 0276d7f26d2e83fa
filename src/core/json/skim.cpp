#include "core/json/skim.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace addnorm {
namespace {

constexpr std::size_t kMostFields = 32, kLongestNumber = 40;
constexpr int kDeepestSkimmed = 8;

/// Every function reads one thing at at_ and says whether it was there; after a false nothing more is read.
class Skimmer {
 public:
  explicit Skimmer(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  bool all_fields(std::vector<SkimmedField>& fields) {
    const auto keep = [&](const SkimmedField& field) { fields.push_back(field); };
    spaces();
    return object(keep) && ended();
  }

  bool all_items(std::vector<std::string_view>& items) {
    const auto keep = [&](std::string_view item) { items.push_back(item); };
    spaces();
    return array(keep) && ended();
  }

 private:
  bool took(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void spaces() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
  }
  bool ended() {
    spaces();
    return at_ == end_;
  }
  std::string_view since(const char* begin) const { return {begin, static_cast<std::size_t>(at_ - begin)}; }

  template <class Keep>
  bool object(const Keep& keep) {
    if (!took('{') || ++depth_ > kDeepestSkimmed) return false;
    std::array<std::string_view, kMostFields> names;
    std::size_t count = 0;
    spaces();
    if (!took('}')) {
      do {
        spaces();
        std::string_view name, value;
        if (!plain_text(name) || (spaces(), !took(':')) || !spaced_value(value)) return false;
        const auto known = names.begin() + static_cast<std::ptrdiff_t>(count);
        if (count == kMostFields || std::find(names.begin(), known, name) != known) return false;
        names[count++] = name;
        keep(SkimmedField{name, value});
      } while (took(','));
      if (!took('}')) return false;
    }
    --depth_;
    return true;
  }

  template <class Keep>
  bool array(const Keep& keep) {
    if (!took('[') || ++depth_ > kDeepestSkimmed) return false;
    spaces();
    if (!took(']')) {
      do {
        std::string_view item;
        if (!spaced_value(item)) return false;
        keep(item);
      } while (took(','));
      if (!took(']')) return false;
    }
    --depth_;
    return true;
  }

  bool spaced_value(std::string_view& text) {
    spaces();
    const char* const begin = at_;
    if (!value()) return false;
    text = since(begin);
    spaces();
    return true;
  }

  bool value() {
    if (at_ == end_) return false;
    std::string_view ignored;
    switch (*at_) {
      case '{':
        return object([](const SkimmedField&) {});
      case '[':
        return array([](std::string_view) {});
      case '"':
        return plain_text(ignored);
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool word(std::string_view name) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(name)) return false;
    at_ += name.size();
    return true;
  }

  /// What is between the quotes.
  bool plain_text(std::string_view& text) {
    if (!took('"')) return false;
    const char* const begin = at_;
    while (at_ != end_ && *at_ >= 0x20 && *at_ < 0x7F && *at_ != '"' && *at_ != '\\') ++at_;
    text = since(begin);
    return took('"');
  }

  bool digits() {
    const char* const begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ != begin;
  }

  /// With at most two digits in its exponent: no such number is too large for a double, or too near 0.
  bool number() {
    const char* const begin = at_;
    took('-');
    if (!took('0') && !digits()) return false;
    if (took('.') && !digits()) return false;
    if (took('e') || took('E')) {
      if (!took('+')) took('-');
      const char* const exponent = at_;
      if (!digits() || at_ - exponent > 2) return false;
    }
    return since(begin).size() <= kLongestNumber && since(begin) != "-0";  // which the parser takes for 0
  }

  const char* at_;
  const char* const end_;
  int depth_ = 0;
};

}  // namespace

bool skim(std::string_view text, std::vector<SkimmedField>& fields) {
  fields.clear();
  return Skimmer(text).all_fields(fields);
}

bool skim_items(std::string_view value, std::vector<std::string_view>& items) {
  items.clear();
  return Skimmer(value).all_items(items);
}

double skimmed_number(std::string_view value) {
  double number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool all = read.ec == std::errc() && read.ptr == value.data() + value.size();
  return all ? number : std::numeric_limits<double>::quiet_NaN();
}

std::optional<std::uint64_t> skimmed_whole(std::string_view value) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool all = read.ec == std::errc() && read.ptr == value.data() + value.size();
  return all ? std::optional(number) : std::nullopt;
}

}  // namespace addnorm
