#include "cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "addnorm/core/names.h"
#include "addnorm/residual/diagram.h"
#include "core/printable.h"

namespace addnorm::cli {
namespace {

/// The first of these that is set decides, as the C library has it.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      return folded(value).find("utf8") != std::string::npos;
  return false;
}

/// no-color.org: set to anything but nothing, it means none.
bool wants_colour() {
  const char* const none = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  return (none == nullptr || *none == '\0') && kind != nullptr && *kind != '\0' && std::string(kind) != "dumb";
}

/// Bytes that the first characters of a text take.
std::size_t bytes_of(const std::string& text, std::size_t characters) {
  std::size_t bytes = 0;
  while (bytes < text.size() && (characters > 0 || (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80)) {
    if ((static_cast<unsigned char>(text[bytes]) & 0xC0) != 0x80) --characters;
    ++bytes;
  }
  return bytes;
}

}  // namespace

Terminal terminal_of_stdout() { return terminal_of(STDOUT_FILENO); }

Terminal terminal_of(int fd) {
  if (isatty(fd) == 0) return {};
  winsize size{};
  const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return {.columns = known ? size.ws_col : std::size_t{80}, .unicode = locale_is_utf8(), .colour = wants_colour()};
}

std::vector<std::string> wrapped(const std::string& given, std::size_t columns) {
  const std::string text = printable(given, LineBreaks::kept);
  if (columns == 0 || columns_of(text) <= columns) return {text};
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    while (columns_of(word) > columns) {
      const std::size_t cut = bytes_of(word, columns);
      lines.push_back(word.substr(0, cut));
      word.erase(0, cut);
    }
    if (lines.empty() || columns_of(lines.back()) + 1 + columns_of(word) > columns)
      lines.push_back(word);
    else
      lines.back() += " " + word;
  }
  return lines;
}

std::string padded(const std::string& given, std::size_t columns) {
  const std::string text = printable(given);
  const std::size_t have = columns_of(text);
  return have < columns ? text + std::string(columns - have, ' ') : text;
}

}  // namespace addnorm::cli
