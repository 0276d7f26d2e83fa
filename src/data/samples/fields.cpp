#include "data/samples/fields.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"

namespace addnorm {
namespace {

/// The cell at the beginning of `rest`, which begins with a quote; takes it off.
std::string quoted_cell(const Lines& lines, std::string_view& rest, char delimiter, std::size_t column) {
  std::string cell;
  std::size_t i = 1;
  for (;; ++i) {
    if (i == rest.size())
      lines.fail("column ", column, ": the quote has no end on its line; cells with line breaks are not read");
    if (rest[i] != '"') {
      cell += rest[i];
    } else if (i + 1 < rest.size() && rest[i + 1] == '"') {
      cell += rest[i++];
    } else {
      break;
    }
  }
  const std::size_t end = std::min(rest.find(delimiter, i + 1), rest.size());
  if (const auto extra = trimmed(rest.substr(i + 1, end - i - 1)); !extra.empty())
    lines.fail("column ", column, ": '", shown(extra), "' after the closing quote");
  rest.remove_prefix(end);
  return cell;
}

std::optional<long long> whole(const std::string& name) {
  long long value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

void split_cells(const Lines& lines, std::string_view line, char delimiter, std::vector<std::string>& cells) {
  std::size_t count = 0;
  for (std::string_view rest = line;;) {
    if (count == cells.size()) cells.emplace_back();
    std::string& cell = cells[count++];
    const std::size_t text = rest.find_first_not_of(delimiter == '\t' ? " " : " \t");
    if (text != std::string_view::npos && rest[text] == '"') {
      rest.remove_prefix(text);
      cell = quoted_cell(lines, rest, delimiter, count);
    } else {
      const std::size_t end = std::min(rest.find(delimiter), rest.size());
      cell = trimmed(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    if (rest.empty()) break;
    rest.remove_prefix(1);
  }
  cells.resize(count);
}

std::optional<char> guess_delimiter(std::string_view line) {
  constexpr std::string_view kDelimiters = ",;\t";
  std::size_t counts[3] = {};
  bool quoted = false;
  for (const char c : line) {
    quoted = quoted != (c == '"');
    if (const std::size_t at = kDelimiters.find(c); at != std::string_view::npos && !quoted) ++counts[at];
  }
  const auto most = std::max_element(std::begin(counts), std::end(counts));
  return *most == 0 ? std::nullopt : std::optional(kDelimiters[static_cast<std::size_t>(most - counts)]);
}

std::optional<double> number_of(std::string_view cell) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size() || cell.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return std::numeric_limits<double>::infinity();
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

Classes::Classes(const std::vector<std::string>& known, const char* function) : fixed_(!known.empty()), names_(known) {
  for (std::size_t i = 0; i < known.size(); ++i)
    require(numbers_.emplace(known[i], static_cast<std::int32_t>(i)).second, function, ": the class '", known[i],
            "' is given twice");
}

std::int32_t Classes::number(const Lines& lines, std::string_view name) {
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  if (name.empty()) lines.fail("the label is empty");
  if (fixed_) lines.fail(unknown_name("label", shown(name), names_));
  const auto number = static_cast<std::int32_t>(names_.size());
  numbers_.emplace(name, number);
  names_.emplace_back(name);
  return number;
}

std::vector<std::string> Classes::settle(std::vector<std::int32_t>& labels) {
  if (fixed_) return names_;
  const bool numbers = std::ranges::all_of(names_, [](const std::string& name) { return whole(name).has_value(); });
  std::vector<std::int32_t> order(names_.size()), place(names_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::int32_t a, std::int32_t b) {
    const std::string& x = names_[static_cast<std::size_t>(a)];
    const std::string& y = names_[static_cast<std::size_t>(b)];
    return numbers && whole(x) != whole(y) ? *whole(x) < *whole(y) : x < y;
  });
  std::vector<std::string> sorted;
  for (const std::int32_t old : order) {
    place[static_cast<std::size_t>(old)] = static_cast<std::int32_t>(sorted.size());
    sorted.push_back(names_[static_cast<std::size_t>(old)]);
  }
  for (std::int32_t& label : labels) label = place[static_cast<std::size_t>(label)];
  return sorted;
}

}  // namespace addnorm
