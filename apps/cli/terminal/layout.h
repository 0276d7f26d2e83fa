// The layout of --help: a name on the left, its explanation on the right, wrapped.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>

namespace addnorm::cli {

/// "  --threads N,...   thread counts, ..." in lines of at most 80 columns; a long name has the first line to itself.
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
