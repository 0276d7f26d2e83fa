#include "lab/outcome/confirm.h"

#include <algorithm>
#include <array>

#include "addnorm/train/run_options.h"
#include "core/json/record.h"
#include "lab/grid/changes.h"

namespace addnorm {
namespace {

constexpr std::size_t kMostOfAFactor = 3;

/// An option that is a factor, and the direction in which it may help; and another arrangement whose formula contains
/// a start, which is two factors at once.
struct CureFactor {
  const char* option;
  const char* name;
  enum class Helps { any, more, less } helps = Helps::any;
};
constexpr std::array kFactors{CureFactor{"arrangement", kPlacement},
                              CureFactor{"arrangement", kPlacementAndStart},
                              CureFactor{kWeights, "weights"},
                              CureFactor{kEmbeddings, "embeddings"},
                              CureFactor{"warmup_steps", "warm-up", CureFactor::Helps::more},
                              CureFactor{"lr", "rate", CureFactor::Helps::less}};

bool is(const CureFactor& factor, std::string_view name) { return factor.name == name; }

/// What is changed from the row to the other one.
std::string change_text(const GridResult& result, const GridChanges& changes, const CureFactor& factor, std::size_t row,
                        std::size_t other) {
  const std::string value = changes.value(other, factor.option), name = factor.name;
  if (name == kPlacementAndStart) return value + " with its own start";
  if (name == kPlacement)
    return result.rows[row].start.own_start ? concat(value, " without ", result.rows[row].arrangement, "'s start") : value;
  if (name == "weights") return result.rows[other].start.weights_in_words;
  if (name == "embeddings") return "embeddings of " + value;
  return name == "warm-up" ? value + " warm-up steps" : "a rate of " + value;
}

bool may_help(const GridChanges& changes, const CureFactor& factor, std::size_t row, std::size_t other) {
  if (factor.helps == CureFactor::Helps::any) return true;
  const double before = changes.number(row, factor.option), after = changes.number(other, factor.option);
  return factor.helps == CureFactor::Helps::more ? after > before : after < before;
}

/// Of one factor, the best first.
std::vector<TriedChange> tried_by(const GridResult& result, const GridChanges& changes, const CureFactor& factor,
                                  std::size_t row) {
  std::vector<TriedChange> all;
  for (std::size_t other = 0; other < result.rows.size(); ++other) {
    const RowResult& one = result.rows[other];
    if (other == row || one.done == 0 || one.too_short > 0) continue;
    if (changes.between(row, other) != Names{factor.option} || !may_help(changes, factor, row, other)) continue;
    const bool own_start = one.start.own_start;
    if ((is(factor, kPlacement) && own_start) || (is(factor, kPlacementAndStart) && !own_start)) continue;
    const bool loses_start = is(factor, kPlacement) && result.rows[row].start.own_start;
    TriedChange tried{.factor = loses_start ? kPlacementAndStart : factor.name,
                      .change = change_text(result, changes, factor, row, other),
                      .trained = one.trained,
                      .done = one.done};
    tried.row = other;
    if (std::ranges::find(all, tried.change, &TriedChange::change) == all.end()) all.push_back(std::move(tried));
  }
  std::stable_partition(all.begin(), all.end(), [](const TriedChange& tried) { return tried.cures(); });
  return all;
}

/// The row with this factor changed alone; nothing: there is nothing to change it to.
std::optional<Json> change_of(const GridResult& result, const GridChanges& changes, const CureFactor& factor, std::size_t index) {
  const RowResult& row = result.rows[index];
  const std::string name = factor.name;
  if (name == kPlacement) return as_arrangement(row, row.arrangement == "pre-ln" ? "post-ln" : "pre-ln");
  if (name == "weights") return from_other_weights(row);
  if (name != "warm-up" || changes.warmup(index) < result.spec.with_warmup) return std::nullopt;  // rows_with_warmup has one
  const std::size_t warmup = warmup_to_try(changes.steps(index));
  return changes.warmup(index) < warmup ? std::optional(Json{{"warmup_steps", warmup}}) : std::nullopt;
}

/// Whether some row of this arrangement that failed has been tried so: one of them speaks for the others.
bool is_tried(const GridResult& result, const GridChanges& changes, const CureFactor& factor, const RowResult& row) {
  for (std::size_t i = 0; i < result.rows.size(); ++i)
    if (result.rows[i].arrangement == row.arrangement && has_failed(result.rows[i]) &&
        !tried_by(result, changes, factor, i).empty())
      return true;
  return false;
}

bool is_worth_trying(const RowResult& row) {
  return has_failed(row) && row.cause && row.cause->kind != CauseKind::slow && !row.instead_of;
}

}  // namespace

std::vector<TriedChange> changes_tried(const GridResult& result, const GridChanges& changes, std::size_t row) {
  std::vector<TriedChange> all;
  for (const CureFactor& factor : kFactors)
    for (TriedChange& tried : tried_by(result, changes, factor, row)) all.push_back(std::move(tried));
  return all;
}

std::vector<AddedRow> rows_that_try_factors(const GridResult& result, double& processor_seconds,
                                            const std::vector<AddedRow>& added) {
  std::vector<AddedRow> more;
  const GridChanges changes(result);
  for (const CureFactor& factor : kFactors)
    for (std::size_t i = 0; i < result.spec.rows.size(); ++i) {
      const RowResult& row = result.rows[i];
      if (!is_worth_trying(row) || result.is_repeated(i) || is_tried(result, changes, factor, row)) continue;
      const std::optional<Json> change = change_of(result, changes, factor, i);
      if (!change) continue;
      GridRow copy = changed(row, *change, result.spec.words);
      const auto same = [&](const AddedRow& one) {
        return one.factor == factor.name && result.rows[one.instead_of].arrangement == row.arrangement;
      };
      if (is_there(result, copy) || is_among(added, copy) || std::ranges::any_of(more, same)) continue;
      if (!afford(result, row, processor_seconds)) return more;
      more.push_back({std::move(copy), i, factor.name});
    }
  return more;
}

void note_cures(GridResult& result) {
  const GridChanges changes(result);
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    RowResult& row = result.rows[i];
    row.tried.clear();
    if (!is_worth_trying(row)) continue;
    for (const CureFactor& factor : kFactors) {
      std::vector<TriedChange> tried = tried_by(result, changes, factor, i);
      const auto cures = static_cast<std::size_t>(std::ranges::count_if(tried, &TriedChange::cures));
      tried.resize(std::min({tried.size(), std::max<std::size_t>(cures, 1), kMostOfAFactor}));
      row.tried.insert(row.tried.end(), tried.begin(), tried.end());
    }
  }
}

}  // namespace addnorm
