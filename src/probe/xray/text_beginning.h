// The beginning of a text that may be large or have no end, and its first tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/data/tokenizer.h"

namespace addnorm {

inline constexpr const char* kMostTextSize = "4 MiB";  ///< so much of a text is read

struct TextBeginning {
  std::string text{};
  std::string name{};    ///< what messages call it: the file, "the standard input"
  bool cut = false;      ///< there is more of it
  bool stopped = false;  ///< by go_on: nothing was read
};

/// Of a file, a pipe, or "-": the standard input. `go_on` is asked before each piece, and while a pipe is idle. What goes on is
/// cut where the tokens before do not depend on what follows; where a tokenizer knows no such place, after a line, or at least
/// after a character. DataError: nothing but white space, a folder. `option`: what messages call the file's option.
TextBeginning beginning_of_text(const std::string& file, const Tokenizer& tokenizer, const std::function<bool()>& go_on,
                                const std::string& option);

/// Ids of a text; a DataError begins with `name`.
std::vector<std::int32_t> encoded(const Tokenizer& tokenizer, std::string_view text, const std::string& name);
/// The same ids, at least the first `enough` or all. No more of the text is encoded than that takes (to a factor of about two,
/// and 64 KiB), where the tokenizer can cut it.
std::vector<std::int32_t> first_encoded(const Tokenizer& tokenizer, std::string_view text, std::size_t enough,
                                        const std::string& name);

}  // namespace addnorm
