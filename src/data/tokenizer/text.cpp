#include "data/tokenizer/files.h"

#include <charconv>

#include "core/json/reader.h"
#include "data/tokenizer/json.h"

namespace addnorm {
namespace {

constexpr int kDeepestTokenizer = 32;

class TokenizerText final : JsonParser {
 public:
  TokenizerText(std::string_view text, std::string_view where, TokenizerSpec& spec)
      : JsonParser(text, where, kDeepestTokenizer), spec_(spec) {}

  Json tokenizer() {
    Json tree = document([&] {
      if (peek() != '{') return value();
      return object([&](std::string_view name) { return name == "model" && peek() == '{' ? model() : value(); });
    });
    if (merges_at_ > 0 && !spec_.vocabulary.empty()) {
      go(merges_at_);
      merges();
    }
    return tree;
  }
  Json vocabulary_alone(std::string_view path) {
    return document([&] { return peek() == '{' ? vocabulary(path) : value(); });
  }

 private:
  Json model() {
    return object([&](std::string_view name) {
      if (name == "vocab" && peek() == '{') return vocabulary("model.vocab");
      if (name == "merges" && peek() == '[') return spec_.vocabulary.empty() ? later_merges() : merges();
      return value();
    });
  }

  Json vocabulary(std::string_view path) {
    members(decoded_, [&](std::string_view token) {
      const std::size_t begin = at();
      const std::uint64_t id = is_digit(peek()) ? whole(number()) : kLargestId + 1;
      if (id > kLargestId) {
        const std::string name(token);
        go(begin);
        throw DataError(concat(where(), ": ", path, " gives the token ", Json(name).dump(), " the id ", value().dump(),
                               "; ids are whole numbers from 0 to ", kLargestId));
      }
      if (!spec_.vocabulary.add(token, static_cast<std::int32_t>(id))) fail_twice(token);
    });
    spec_.vocabulary.sort();
    return Json::object();
  }
  /// More than kLargestId, where it is none.
  static std::uint64_t whole(const JsonNumber& number) {
    std::uint64_t id = 0;
    const auto read = std::from_chars(number.text.data(), number.text.data() + number.text.size(), id);
    return number.whole && read.ec == std::errc() ? id : kLargestId + 1;
  }

  /// They stand before the tokens: passed over until those are known.
  Json later_merges() {
    merges_at_ = at();
    items([&] { value(); });
    return Json::array();
  }
  Json merges() {
    merges_at_ = 0;
    items([&] {
      const auto place = [&] { return concat(where(), ": model.merges[", spec_.merges.size(), "]"); };
      if (peek() == '"') return add_merge(string(decoded_), spec_, place);
      const std::size_t begin = at();
      if (peek() == '[' && took_two_texts()) return add_merge(left_, right_, spec_, place);
      go(begin);
      JsonPlace(value(), where(), concat("model.merges[", spec_.merges.size(), "]")).wrong("it must be two tokens");
    });
    return Json::array();
  }
  /// ["a", "b"]. What else an array holds ends the reading.
  bool took_two_texts() {
    std::size_t count = 0;
    bool texts = true;
    items([&] {
      texts = texts && peek() == '"' && count < 2;
      if (texts)
        (count == 0 ? left_ : right_) = string(decoded_);
      else
        value();
      ++count;
    });
    return texts && count == 2;
  }

  TokenizerSpec& spec_;
  std::size_t merges_at_ = 0;  // of those that are to be read again
  std::string left_, right_;
};

}  // namespace

Json read_tokenizer_text(std::string_view text, std::string_view where, TokenizerSpec& spec) {
  return TokenizerText(text, where, spec).tokenizer();
}

Json read_vocabulary_text(std::string_view text, std::string_view where, std::string_view path, TokenizerSpec& spec) {
  return TokenizerText(text, where, spec).vocabulary_alone(path);
}

}  // namespace addnorm
