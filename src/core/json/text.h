// A JSON text read from front to back (RFC 8259): what readers share that build different things of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace addnorm {

struct JsonNumber {
  std::string_view text;
  bool whole;  ///< neither a point nor an exponent
};

/// A place in the text, and functions that read one thing there and step behind it. Readers inherit, and say in `fail` where they
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

}  // namespace addnorm
