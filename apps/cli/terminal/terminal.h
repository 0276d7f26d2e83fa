// What is known of the terminal that output goes to, and text that fits it. Names out of files do not command it: what is not
// printable is written out (core/printable.h), so that colours are put around a text afterwards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace addnorm::cli {

struct Terminal {
  std::size_t columns = 0;  ///< 0: no terminal but a pipe or a file, where lines are as long as they are
  bool unicode = true;
  bool colour = false;  ///< a terminal with colours, unless NO_COLOR is set
};
/// Of stdout, or any other. Without UTF-8 in LC_ALL, LC_CTYPE or LANG a terminal gets ASCII; pipes and files always get UTF-8.
Terminal terminal_of_stdout();
Terminal terminal_of(int fd);

/// Lines of at most `columns` columns, broken between words; 0: one line. A word that is longer is cut.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns);
/// With spaces to the right up to this many columns.
std::string padded(const std::string& text, std::size_t columns);

/// The layout of --help, a name on the left and its explanation on the right: "  --threads N,...   thread counts, ..." in lines
/// of at most 80 columns; a long name has the first line to itself.
inline std::string two_columns(const std::string& left, const std::string& text) {
  constexpr std::size_t kLeft = 22, kWidth = 80;
  std::string out, line = "  " + left;
  if (line.size() + 2 > kLeft) {
    out = line + "\n";
    line.clear();
  }
  line.resize(kLeft, ' ');
  std::istringstream words(text);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line.assign(kLeft, ' ');
      first = true;
    }
    line += (first ? "" : " ") + word;
  }
  return out + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace addnorm::cli
