// Cells of a line of a table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/samples/lines.h"

namespace addnorm {

/// `line` cut at the delimiter. Spaces around a cell do not count; in double quotes a delimiter is text and two quotes are one.
/// Into `cells`, whose strings are used again. Errors name line and column: a quote without an end, text behind a quote.
void split_cells(const Lines& lines, std::string_view line, char delimiter, std::vector<std::string>& cells);
/// Of ',', ';' and tab the one that `line` has most of, outside quotes; nothing when it has none.
std::optional<char> guess_delimiter(std::string_view line);
/// The number that is the whole of `cell`, which may be infinite or NaN; nothing when it is none.
std::optional<double> number_of(std::string_view cell);

}  // namespace addnorm
