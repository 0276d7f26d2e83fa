#include "lab/cures.h"

#include <algorithm>
#include <array>

#include "addnorm/train/run_options.h"
#include "core/json_record.h"
#include "lab/grid_changes.h"

namespace addnorm {
namespace {

constexpr std::size_t kMostOfAFactor = 3;

/// An option that is a factor of its own, and the direction in which it may help.
struct CureFactor {
  const char* option;
  const char* name;
  enum class Helps { any, more, less } helps;
};
constexpr std::array kFactors{
    CureFactor{"arrangement", "placement", CureFactor::Helps::any}, CureFactor{kWeights, "weights", CureFactor::Helps::any},
    CureFactor{kEmbeddings, "embeddings", CureFactor::Helps::any}, CureFactor{"warmup_steps", "warm-up", CureFactor::Helps::more},
    CureFactor{"lr", "rate", CureFactor::Helps::less}};

std::string change_text(const GridChanges& changes, const CureFactor& factor, std::size_t row) {
  const std::string value = changes.value(row, factor.option), name = factor.name;
  if (name == "placement") return value;
  if (name == "weights") return weights_in_words(value);
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
    TriedChange tried{
        .factor = factor.name, .change = change_text(changes, factor, other), .trained = one.trained, .done = one.done};
    tried.row = other;
    if (std::ranges::find(all, tried.change, &TriedChange::change) == all.end()) all.push_back(std::move(tried));
  }
  std::stable_partition(all.begin(), all.end(), [](const TriedChange& tried) { return tried.cures(); });
  const auto cures = static_cast<std::size_t>(std::ranges::count_if(all, &TriedChange::cures));
  all.resize(std::min({all.size(), std::max<std::size_t>(cures, 1), kMostOfAFactor}));
  return all;
}

/// The row with this factor changed; an empty object: there is nothing to change it to.
Json change_of(const GridResult& result, const GridChanges& changes, const CureFactor& factor, std::size_t index) {
  const RowResult& row = result.rows[index];
  const std::string name = factor.name;
  Json more = Json::object();
  if (name == "placement") {
    more = as_arrangement(row, row.arrangement == "pre-ln" ? "post-ln" : "pre-ln");
  } else if (name == "weights" && !row.start.weights.empty()) {
    more["init"] = row.start.rule == "gpt2" ? "xavier" : "gpt2";
    more["init_std"] = Json();
    // The embeddings stay: what is tried is one thing.
    if (row.start.token_std) more["embedding_std"] = *row.start.token_std;
    if (row.start.position_std) more["position_std"] = *row.start.position_std;
  } else if (name == "warm-up") {
    const std::size_t warmup = std::min<std::size_t>(200, changes.steps(index) * 2 / 3);
    if (changes.warmup(index) < warmup) more["warmup_steps"] = warmup;
  }
  return more;
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

std::vector<AddedRow> rows_that_try_factors(const GridResult& result, double& processor_seconds) {
  std::vector<AddedRow> added;
  const GridChanges changes(result);
  for (const CureFactor& factor : kFactors)
    for (std::size_t i = 0; i < result.spec.rows.size(); ++i) {
      const RowResult& row = result.rows[i];
      if (!is_worth_trying(row) || result.is_repeated(i) || is_tried(result, changes, factor, row)) continue;
      const Json more = change_of(result, changes, factor, i);
      if (more.size() == 0) continue;
      GridRow copy = changed(row, more);
      const auto same = [&](const AddedRow& one) {
        return one.factor == factor.name && result.rows[one.instead_of].arrangement == row.arrangement;
      };
      if (is_there(result, copy) || std::ranges::any_of(added, same)) continue;
      if (!afford(result, row, processor_seconds)) return added;
      added.push_back({std::move(copy), i, factor.name});
    }
  return added;
}

void note_cures(GridResult& result) {
  const GridChanges changes(result);
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    RowResult& row = result.rows[i];
    row.tried.clear();
    if (!is_worth_trying(row)) continue;
    for (const CureFactor& factor : kFactors)
      for (TriedChange& tried : tried_by(result, changes, factor, i)) row.tried.push_back(std::move(tried));
  }
}

}  // namespace addnorm
