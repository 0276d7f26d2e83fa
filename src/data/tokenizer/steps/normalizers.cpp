#include <algorithm>

#include "core/utf8.h"
#include "data/tokenizer/steps/steps.h"

namespace addnorm {
namespace {

// Each character replaced by what `give` appends.
template <class Give>
void rewritten(std::string& text, Give give) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Char character = utf8_front(std::string_view(text).substr(i));
    const std::size_t length = std::max(1u, character.length);
    give(result, character.code, std::string_view(text).substr(i, length));
    i += length;
  }
  text = std::move(result);
}

// The blocks that BERT separates, as `tokenizers` has them.
bool is_chinese(char32_t c) {
  const auto in = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  return in(0x4E00, 0x9FFF) || in(0x3400, 0x4DBF) || in(0x20000, 0x2A6DF) || in(0x2A700, 0x2B73F) || in(0x2B740, 0x2B81F) ||
         in(0x2B920, 0x2CEAF) || in(0xF900, 0xFAFF) || in(0x2F800, 0x2FA1F);
}

}  // namespace

void bert_clean(std::string& text) {
  rewritten(text, [](std::string& out, char32_t code, std::string_view character) {
    if (is_white(code) && (code == '\t' || code == '\n' || code == '\r' || !is_other(code))) {
      out += ' ';
    } else if (code != 0 && code != 0xFFFD && !is_other(code)) {
      out += character;
    }
  });
}

void bert_chinese(std::string& text) {
  rewritten(text, [](std::string& out, char32_t code, std::string_view character) {
    const bool apart = is_chinese(code);
    if (apart) out += ' ';
    out += character;
    if (apart) out += ' ';
  });
}

void lower_case(std::string& text) {
  rewritten(text, [](std::string& out, char32_t code, std::string_view) {
    if (code < 128) return out.push_back(code >= 'A' && code <= 'Z' ? static_cast<char>(code + 32) : static_cast<char>(code));
    char32_t room[2];
    for (const char32_t c : lower(code, room)) append_utf8(out, c);
  });
}

void remove_marks(std::string& text, bool (*is)(char32_t)) {
  rewritten(text, [is](std::string& out, char32_t code, std::string_view character) {
    if (code < 128 || !is(code)) out += character;
  });
}

void strip_white(std::string& text, bool left, bool right) {
  std::string_view rest = text;
  while (left && !rest.empty() && is_white(utf8_front(rest).code)) rest.remove_prefix(std::max(1u, utf8_front(rest).length));
  while (right && !rest.empty() && is_white(utf8_back(rest).code)) rest.remove_suffix(std::max(1u, utf8_back(rest).length));
  text = std::string(rest);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty() || text.find(from) == std::string::npos) return;
  std::string result;
  std::size_t done = 0;
  for (std::size_t at; (at = text.find(from, done)) != std::string::npos; done = at + from.size())
    result.append(text, done, at - done).append(to);
  text = std::move(result.append(text, done));
}

void replace_all(std::string& text, const Regex& pattern, std::string_view to) {
  std::string result;
  std::size_t done = 0;
  for (const auto& [first, end] : pattern.matches(text)) {
    result.append(text, done, first - done).append(to);
    done = end;
  }
  text = std::move(result.append(text, done));
}

}  // namespace addnorm
