// What is known of the terminal that output goes to, and text that fits it. Names out of files do not command it: what is not
// printable is written out (core/printable.h), so that colours are put around a text afterwards.
#pragma once

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

}  // namespace addnorm::cli
