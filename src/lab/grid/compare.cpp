// Whether the losses of rows differ by more than chance.
#include <algorithm>
#include <cmath>
#include <map>

#include "addnorm/core/error.h"
#include "addnorm/lab/grid_result.h"
#include "core/figures.h"
#include "core/json/record.h"
#include "lab/grid/changes.h"
#include "lab/outcome/confirm.h"

namespace addnorm {
namespace {

constexpr double kChance = 0.05;
constexpr std::size_t kMostWithHolm = 500;  // rows: pairs grow with their square
constexpr std::size_t kLeastSeedsCompared = 3;

/// A row and its number.
struct Compared {
  const RowResult* row;
  std::size_t index;
};
using RowsOfOneData = std::vector<Compared>;

/// The words of findings and cures, where an option has some.
std::string factor_text(std::string option) {
  if (option == "arrangement") return "placement";
  if (option == "warmup_steps") return "warm-up";
  if (option == "lr") return "learning rate";
  std::ranges::replace(option, '_', ' ');
  return option;
}

/// In what two rows differ: one factor alone, or several, of none of which the comparison speaks by itself.
std::string factors_text(const GridChanges& changes, const Compared& a, const Compared& b) {
  Names factors = changes.between(a.index, b.index);
  for (std::string& name : factors) name = factor_text(std::move(name));
  if (factors.empty()) return "";
  if (factors == Names{"placement"} && (a.row->start.own_start || b.row->start.own_start)) {
    const bool both = a.row->start.own_start && b.row->start.own_start;
    const RowResult& own = a.row->start.own_start ? *a.row : *b.row;
    return concat("; they differ in placement, and ", both ? "both carry a start of their own" : own.arrangement,
                  both ? "" : " carries a start of its own");
  }
  if (factors.size() == 1) return concat("; they differ in ", factors.front(), " alone");
  const bool more = factors.size() > GridChanges::kMostNamed;
  if (more) factors.resize(GridChanges::kMostNamed);
  std::string text =
      concat("; they differ in ", more ? "more than " : "", factors.size(), " factors, ", more ? "among them " : "");
  for (std::size_t i = 0; i < factors.size(); ++i)
    text += concat(i == 0 ? "" : i + 1 < factors.size() ? ", " : " and ", factors[i]);
  return text + ", so this is about none of them by itself";
}

/// "3 seeds", or "3 and 5 seeds" where the two have not as many losses.
std::string seeds_of(const RowResult& one, const RowResult& other) {
  const std::size_t a = one.loss.count, b = other.loss.count;
  return a == b ? concat(a, " seeds") : concat(a, " and ", b, " seeds");
}

/// Losses with the same one are of the same thing.
std::string what_is_predicted(const RowResult& row) {
  const Json options = parsed(row.options, row.row.place);
  std::string key;
  for (const char* name : {"model", "data", "task", "tokenizer", "label", "truncate", "validation", "seq_len", "label_smoothing"})
    if (const Json* value = options.find(name)) key += concat(name, ": ", value->dump(), "\n");
  return key;
}

/// Of every p how it is corrected: the i-th smallest of m by the factor m - i, none below a smaller one.
class Corrected {
 public:
  explicit Corrected(const RowsOfOneData& rows) : pairs_(static_cast<double>(rows.size() * (rows.size() - 1)) / 2) {
    if (rows.size() > kMostWithHolm) return;
    std::vector<double> all;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) all.push_back(difference_of(rows[i].row->loss, rows[j].row->loss).p);
    std::ranges::sort(all);
    double so_far = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      so_far = std::max(so_far, std::min(1.0, all[i] * static_cast<double>(all.size() - i)));
      by_p_.emplace(all[i], so_far);  // the first of equals: the largest factor
    }
  }
  double operator()(double p) const {
    const auto found = by_p_.find(p);
    return found != by_p_.end() ? found->second : std::min(1.0, p * pairs_);
  }

 private:
  double pairs_;
  std::map<double, double> by_p_;
};

void compare_with_best(RowsOfOneData rows, const GridChanges& changes, Comparisons& into) {
  if (rows.size() < 2) return;
  std::ranges::stable_sort(rows, {}, [](const Compared& one) { return one.row->loss.mean; });
  const Corrected corrected(rows);
  const RowResult& best = *rows.front().row;
  into.compares = true;
  for (const Compared& one : rows) {
    const RowResult* row = one.row;
    if (row == &best) continue;
    const std::string factors = factors_text(changes, rows.front(), one);
    const MeanDifference found = difference_of(row->loss, best.loss);
    const double p = corrected(found.p);
    const std::string by = fixed(found.difference, 3), chance = concat("p ", short_figure(p));
    if (p < kChance) {
      into.lines.push_back(concat(best.label, " is below ", row->label, " by ", by, " (", chance, ")", factors));
    } else {
      into.lines.push_back(concat(best.label, " and ", row->label, ": not decided with ", seeds_of(best, *row), " (", by, ", ",
                                  chance, ")", factors));
      into.noise = true;
    }
  }
}

}  // namespace

Comparisons comparisons(const GridResult& result) {
  std::vector<std::string> order;
  std::map<std::string, RowsOfOneData> groups;
  std::size_t too_few_seeds = 0;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const RowResult& row = result.rows[i];
    if (!has_trained(row) || row.instead_of || result.is_repeated(i)) continue;
    if (row.loss.count < kLeastSeedsCompared) {
      ++too_few_seeds;
      continue;
    }
    const std::string key = what_is_predicted(row);
    if (!groups.contains(key)) order.push_back(key);
    groups[key].push_back({&row, i});
  }
  Comparisons all;
  const GridChanges changes(result);
  for (const std::string& key : order) compare_with_best(groups[key], changes, all);
  if (too_few_seeds > 0 && (too_few_seeds > 1 || !groups.empty()))  // one alone has no others
    all.lines.push_back(concat(too_few_seeds, too_few_seeds == 1 ? " row that trained has" : " rows that trained have",
                               " fewer than 3 seeds: not compared"));
  return all;
}

}  // namespace addnorm
