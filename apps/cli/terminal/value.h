// From text on the command line to values. What cannot be read is refused with what it should have been.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <filesystem>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include "addnorm/core/error.h"

namespace addnorm::cli {

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

/// All of `text` as a finite number; one '+' may stand before it.
/// Throws UsageError: "'x' is not a whole number", "'-1' is not a whole number from 0 on", "'inf' is not a finite number".
template <Number T>
T parse_value(const std::string& text) {
  T value{};
  const bool plus = text.starts_with('+') && !text.starts_with("+-");  // from_chars knows no '+'
  const char* const end = text.data() + text.size();
  const auto [read_to, problem] = std::from_chars(text.data() + (plus ? 1 : 0), end, value);
  require(problem != std::errc::result_out_of_range, "'", text, "' is too large or too small");
  const char* const kind = std::is_floating_point_v<T> ? "number"
                           : std::is_signed_v<T>       ? "whole number"
                                                       : "whole number from 0 on";
  require(problem == std::errc() && read_to == end, "'", text, "' is not a ", kind);
  if constexpr (std::is_floating_point_v<T>) require(std::isfinite(value), "'", text, "' is not a finite number");
  return value;
}

template <class T>
requires(std::same_as<T, std::string> || std::same_as<T, std::filesystem::path>) T parse_value(const std::string& text) {
  require(!text.empty(), "the value is empty");
  return text;
}

/// "1,2" -> "1", "2". Throws UsageError where a comma has nothing before or after it.
inline std::vector<std::string> list_items(const std::string& text) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  while (true) {
    const std::size_t comma = text.find(',', begin);
    items.push_back(text.substr(begin, comma - begin));
    if (items.back().empty()) refuse(text.empty() ? "the value is empty" : concat("'", text, "' has a comma too many"));
    if (comma == std::string::npos) return items;
    begin = comma + 1;
  }
}

/// The same for paths, but what names a file or folder as a whole is one item, commas and all.
inline std::vector<std::string> path_items(const std::string& text) {
  std::error_code unknown;
  return std::filesystem::exists(text, unknown) ? std::vector{text} : list_items(text);
}

/// What stands for a value in --help.
template <class T>
constexpr const char* value_name = std::integral<T>               ? "N"
                                   : Number<T>                    ? "X"
                                   : std::same_as<T, std::string> ? "TEXT"
                                                                  : "PATH";

}  // namespace addnorm::cli
