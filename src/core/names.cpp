#include "addnorm/core/names.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

#include "core/printable.h"

namespace addnorm {
namespace {

/// Insertions, deletions, substitutions and exchanges of two neighbours (optimal string alignment), by rows of the table:
/// above[j] is the distance between the letters of `a` before this one and the first j of `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_above(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::swap(two_above, above);
    std::swap(above, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({above[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, above[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) row[j + 1] = std::min(row[j + 1], two_above[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name)
    if (c != '-' && c != '_' && c != ' ') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string nearest_name(std::string_view name, std::span<const std::string> known) {
  const std::string wanted = folded(name);
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(wanted, folded(candidate));
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? "" : *best;
}

std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> known) {
  std::string message = "unknown " + std::string(what) + " '" + printable(std::string(name)) + "'";
  if (const std::string nearest = nearest_name(name, known); !nearest.empty())
    message += "; did you mean " + printable(nearest) + "?";
  message += message.back() == '?' ? " known: " : "; known: ";
  message += listed(known);
  return message;
}

std::string called(const FieldWords& words, std::string field) { return words ? words(std::move(field)) : field; }

std::string with_fields_called(std::string_view text, const FieldWords& words) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find('{', at), text.size()), close = text.find('}', open);
    all += text.substr(at, open - at);
    if (close == text.npos) return all += text.substr(open);
    all += called(words, std::string(text.substr(open + 1, close - open - 1)));
    at = close + 1;
  }
  return all;
}

std::string listed(std::span<const std::string> names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + printable(name);
  return all;
}

}  // namespace addnorm
