// UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace addnorm {

struct Utf8Char {
  char32_t code;
  unsigned length;  ///< 0: no character begins here
};

/// Of 2 to 4 bytes, at the beginning of `text`.
inline Utf8Char utf8_long(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const unsigned length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || text.size() < length) return {0, 0};
  char32_t code = lead & (0xFFu >> (length + 1));
  for (unsigned i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {0, 0};
  return {code, length};
}

/// At the beginning of `text`, which is not empty.
inline Utf8Char utf8_front(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  return lead < 0x80 ? Utf8Char{lead, 1} : utf8_long(text);
}

/// At the end of `text`, which is not empty.
inline Utf8Char utf8_back(std::string_view text) {
  for (unsigned length = 1; length <= 4 && length <= text.size(); ++length)
    if ((static_cast<unsigned char>(text[text.size() - length]) & 0xC0) != 0x80) {
      const Utf8Char found = utf8_front(text.substr(text.size() - length));
      return found.length == length ? found : Utf8Char{0, 0};
    }
  return {0, 0};
}

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const unsigned length = utf8_front(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

inline void append_utf8(std::string& to, char32_t code) {
  const auto put = [&](char32_t byte) { to.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

/// `text` without a character at its end that more bytes could complete.
inline std::size_t utf8_complete(std::string_view text) {
  static constexpr std::string_view kRests[] = {"\x80", "\x80\x80", "\x90\x80", "\xA0\x80", "\x80\x80\x80", "\x90\x80\x80"};
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const std::string_view tail = text.substr(text.size() - back);
    if ((static_cast<unsigned char>(tail[0]) & 0xC0) == 0x80) continue;
    if (static_cast<unsigned char>(tail[0]) < 0x80 || utf8_front(tail).length != 0) break;
    for (const std::string_view rest : kRests)
      if (utf8_front(std::string(tail) += rest).length == back + rest.size()) return text.size() - back;
    break;
  }
  return text.size();
}

}  // namespace addnorm
