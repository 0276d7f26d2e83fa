// What stands on a line of samples: the cells of a table, and names of classes, which get numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/samples/lines.h"

namespace addnorm {

/// `line` cut at the delimiter. Spaces around a cell do not count; in double quotes a delimiter is text and two quotes are one.
/// Into `cells`, whose strings are used again. Errors name line and column: a quote without an end, text after a closing quote.
void split_cells(const Lines& lines, std::string_view line, char delimiter, std::vector<std::string>& cells);
/// Of ',', ';' and tab the one that `line` has most of, outside quotes; nothing when it has none.
std::optional<char> guess_delimiter(std::string_view line);
/// The number that is the whole of `cell`, which may be infinite or NaN; nothing when it is none.
std::optional<double> number_of(std::string_view cell);

/// Collects names as they come; in the end they are put in order, and provisional numbers become final ones.
class Classes {
 public:
  /// `known`: those of training, in their order; empty: every name is new. A name twice is a UsageError in the name of
  /// `function`.
  Classes(const std::vector<std::string>& known, const char* function);

  /// The provisional number of `name`. Errors name the line: an empty name, one that is not known.
  std::int32_t number(const Lines& lines, std::string_view name);
  std::size_t size() const { return names_.size(); }
  /// Puts the names in order (ascending numbers where all are whole numbers, else by bytes) and renumbers `labels`. Known ones
  /// stay as they are.
  std::vector<std::string> settle(std::vector<std::int32_t>& labels);

 private:
  bool fixed_;
  std::vector<std::string> names_;
  std::map<std::string, std::int32_t, std::less<>> numbers_;
};

}  // namespace addnorm
