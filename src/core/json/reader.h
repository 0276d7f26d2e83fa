// Reading JSON (RFC 8259): one grammar, JsonText, and what is built on it here: values (JsonParser) and the fields of a line
// without building it (skim). Headers of safetensors files and tokenizer files are read by classes of their own on the same
// grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/json.h"

namespace addnorm {

struct JsonNumber {
  std::string_view text;
  bool whole;  ///< neither a point nor an exponent
};

/// A place in the text, and functions that read one thing there and step past it. Readers inherit, and say in `fail` where they
/// are. Texts are checked to be UTF-8; nothing is copied but texts with escapes, and nothing calls itself.
class JsonText {
 protected:
  explicit JsonText(std::string_view text) : text_(text) {}
  ~JsonText() = default;

  /// Throws; `what` is wrong at at().
  [[noreturn]] virtual void fail(const std::string& what) const = 0;

  std::string_view text() const { return text_; }
  std::size_t at() const { return at_; }
  void go(std::size_t at) { at_ = at; }
  bool ended() const { return at_ == text_.size(); }
  char peek() const { return ended() ? '\0' : text_[at_]; }
  bool took(char c) {
    if (ended() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool took(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void spaces() {
    while (!ended() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) ++at_;
  }
  void expect_end() const {
    if (!ended()) fail("nothing more is expected here");
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  bool at_number() const { return peek() == '-' || is_digit(peek()); }
  JsonNumber number();

  /// What is between the quotes: a part of the text itself where it has no escapes, otherwise `decoded`, which is written anew.
  std::string_view string(std::string& decoded);

  /// An array; item() reads what stands at every place. Spaces around it are taken care of.
  template <class Item>
  void items(Item&& item);
  /// An object; member(name) reads a value. The name, if it had escapes, is in `decoded`.
  template <class Member>
  void members(std::string& decoded, Member&& member);

 private:
  void digits();
  void plain_letters();
  void escape(std::string& decoded);
  char32_t four_digits();

  std::string_view text_;
  std::size_t at_ = 0;
};

template <class Item>
void JsonText::items(Item&& item) {
  took('[');
  spaces();
  if (took(']')) return;
  do {
    spaces();
    item();
    spaces();
  } while (took(','));
  if (!took(']')) fail("',' or ']' is expected");
}

template <class Member>
void JsonText::members(std::string& decoded, Member&& member) {
  took('{');
  spaces();
  if (took('}')) return;
  do {
    spaces();
    if (peek() != '"') fail("the name of a field is expected, in quotes");
    const std::string_view name = string(decoded);
    spaces();
    if (!took(':')) fail("':' is expected");
    spaces();
    member(name);
    spaces();
  } while (took(','));
  if (!took('}')) fail("',' or '}' is expected");
}

// Values.

/// What parsed() does, one value at a time. A mark of UTF-8 at the beginning is passed over.
class JsonParser : protected JsonText {
 protected:
  /// `where`: the file, for messages. `deepest`: levels of arrays and objects, so that what walks a value may be recursive.
  JsonParser(std::string_view text, std::string_view where, int deepest = kDeepest)
      : JsonText(text), where_(where), deepest_(deepest) {
    took("\xEF\xBB\xBF");
  }
  ~JsonParser() = default;

  /// A DataError with line and column.
  [[noreturn]] void fail(const std::string& what) const final;

  /// The whole text, of which root() reads the value.
  template <class Root>
  Json document(Root&& root) {
    spaces();
    Json json = root();
    spaces();
    expect_end();
    return json;
  }
  /// Whatever stands here.
  Json value();
  /// The object that stands here; value_of(name) reads the value of each field.
  template <class ValueOf>
  Json object(ValueOf&& value_of) {
    Json::Object all;
    enter();
    members(decoded_, [&](std::string_view name) {
      std::string key(name);  // what reads the value may decode another text
      Json value = value_of(key);
      all.push_back({std::move(key), std::move(value)});
    });
    --depth_;
    refuse_twice(all);
    return all;
  }

  std::string_view where() const { return where_; }
  [[noreturn]] void fail_twice(std::string_view name) const;

  std::string decoded_;  // a text that had escapes

 private:
  void enter();
  Json array();
  void refuse_twice(const Json::Object& fields) const;
  Json number_of(const JsonNumber& number);

  std::string_view where_;
  int deepest_, depth_ = 0;
};

// Files of many lines of which a few numbers count.

struct SkimmedField {
  std::string_view name;
  std::string_view value;  ///< its text, without spaces around it
};

/// The fields of the object that `text` is, in order; names and values point into it. False where it is none, and where only the
/// parser can decide: for escapes in texts, more than 32 fields in an object, numbers of unusual length, more than 8 levels. So
/// true means that parsed() reads the same fields, and after false it has to be asked. Takes no memory but for `fields`; some ten
/// times as fast as parsed().
bool skim(std::string_view text, std::vector<SkimmedField>& fields);

/// The items of the array that the value of a skimmed field is; false where it is none.
bool skim_items(std::string_view value, std::vector<std::string_view>& items);

/// Of a skimmed value: NaN, and nothing, where it is something else.
double skimmed_number(std::string_view value);
std::optional<std::uint64_t> skimmed_whole(std::string_view value);

}  // namespace addnorm
