#include "lab/grid/changes.h"

#include <algorithm>
#include <cmath>

#include "addnorm/train/run_options.h"
#include "core/figures.h"
#include "core/json/record.h"

namespace addnorm {
namespace {

constexpr std::string_view kWarmup = "warmup_steps";

bool changes_what_is_learned(const std::string& name) { return name != "seed" && (name == "steps" || !may_change(name)); }

std::size_t whole_in(const Json& options, std::string_view name) {
  const Json* value = options.find(name);
  return value && value->is_unsigned() ? value->whole() : 0;
}

/// Products of the same factors in another order are the same deviation.
std::string embeddings_key(const StartText& start) {
  if (!start.token_std) return start.embeddings;
  const std::string tokens = significant(*start.token_std, 12);
  return start.position_std ? concat(tokens, ", positions ", significant(*start.position_std, 12)) : tokens;
}

constexpr std::string_view kOwnArrangement = "own_arrangement";

bool is_start(std::string_view name) { return std::ranges::find(kStartOptions, name) != kStartOptions.end(); }

}  // namespace

std::string start_key(const StartText& start) { return concat(start.weights, "; ", embeddings_key(start)); }

GridChanges::GridChanges(const GridResult& result) {
  rows_.reserve(result.rows.size());
  for (const RowResult& row : result.rows) read(row);
}

std::uint32_t GridChanges::number_of(const std::string& value) {
  return values_.emplace(value, static_cast<std::uint32_t>(values_.size() + 1)).first->second;
}

void GridChanges::read(const RowResult& result) {
  Row row{.planned = parsed(result.options, result.row.place)};
  const Json asked = parsed(result.row.options, result.row.place);
  row.warmup = whole_in(row.planned, kWarmup);
  row.steps = whole_in(row.planned, "steps");
  row.planned[kWeights] = result.start.weights;
  row.planned[kEmbeddings] = result.start.embeddings;
  for (const auto& [name, value] : row.planned.items()) {
    if (!changes_what_is_learned(name) || is_start(name) || name == kOwnArrangement) continue;
    const auto at = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
    if (at == names_.size()) names_.push_back(name);
    if (row.options.size() <= at) row.options.resize(at + 1);
    const Json* own = name == "arrangement" ? row.planned.find(kOwnArrangement) : nullptr;
    const std::string key = name == kEmbeddings ? embeddings_key(result.start) : value.dump() + (own ? own->dump() : "");
    const bool is_said = asked.contains(name) || (own && asked.contains(kOwnArrangement));
    row.options[at] = {.value = number_of(key), .said = is_said || name == kWeights || name == kEmbeddings};
  }
  rows_.push_back(std::move(row));
  alike_[same_but(rows_.size() - 1, kWarmup)].push_back(rows_.size() - 1);
}

std::string GridChanges::same_but(std::size_t row, std::string_view option) const {
  std::string text;
  for (std::size_t i = 0; i < rows_[row].options.size(); ++i)
    if (names_[i] != option) text += concat(i, ":", rows_[row].options[i].value, " ");
  return text;
}

double GridChanges::number(std::size_t row, std::string_view name) const {
  const Json* value = rows_[row].planned.find(name);
  return value && value->is_number() ? value->number() : std::nan("");
}

std::string GridChanges::value(std::size_t row, std::string_view name) const {
  const Json* value = rows_[row].planned.find(name);
  return value == nullptr ? "the default" : value->is_string() ? value->text() : value->dump();
}

std::vector<std::string> GridChanges::between(std::size_t row, std::size_t other) const {
  const std::vector<Option>&a = rows_[row].options, &b = rows_[other].options;
  std::vector<std::string> found;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()) && found.size() <= kMostNamed; ++i) {
    const Option mine = i < a.size() ? a[i] : Option{}, theirs = i < b.size() ? b[i] : Option{};
    if (mine.value == theirs.value) continue;
    if (mine.said || theirs.said || names_[i] == kWarmup) found.push_back(names_[i]);
  }
  return found;
}

std::vector<std::size_t> GridChanges::with_more_warmup(std::size_t row) const {
  std::vector<std::size_t> more;
  for (const std::size_t other : alike_.at(same_but(row, kWarmup)))
    if (rows_[other].warmup > rows_[row].warmup) more.push_back(other);
  return more;
}

}  // namespace addnorm
