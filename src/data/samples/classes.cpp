#include "data/samples/classes.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"

namespace addnorm {
namespace {

std::optional<long long> whole(const std::string& name) {
  long long value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

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
