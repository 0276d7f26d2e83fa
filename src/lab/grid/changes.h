// How the rows of a grid differ: their planned options, each read once. And the change that the lab tries first: a warm-up.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/lab/grid_result.h"
#include "core/json/json.h"

namespace addnorm {

/// Two factors in place of the options that say how weights start (StartText).
inline constexpr const char *kWeights = "weights", *kEmbeddings = "embeddings";
inline constexpr std::array<std::string_view, 5> kStartOptions{"init", "init_std", "embedding_std", "position_std",
                                                               "branch_scale"};

/// Rows that start alike have the same text.
std::string start_key(const StartText& start);

/// Rows are numbers in GridResult::rows, as they were when this was made. An option counts where it changes what is learned: not
/// the seed, nor what may_change() but the steps. It differs where planned values do and one of the rows says it; what merely
/// follows from another option (min_lr from lr) is no separate difference, but the warm-up is.
///
/// An own_arrangement is compared whole, as its arrangement. How weights start is compared by what it comes to, as two factors:
/// "weights" (matrices, without gains that are part of an arrangement's formula) and "embeddings". So a post-ln and a pre-ln that
/// start as their sources say differ in three things.
class GridChanges {
 public:
  static constexpr std::size_t kMostNamed = 3;  ///< of the factors in which two rows differ
  explicit GridChanges(const GridResult& result);

  std::size_t warmup(std::size_t row) const { return rows_[row].warmup; }
  std::size_t steps(std::size_t row) const { return rows_[row].steps; }
  double number(std::size_t row, std::string_view name) const;      ///< NaN: it is none
  std::string value(std::size_t row, std::string_view name) const;  ///< as a person reads it
  /// Names of options that differ; at most one more than are named.
  std::vector<std::string> between(std::size_t row, std::size_t other) const;
  /// Of all that counts but this option: rows with the same text differ in nothing else.
  std::string same_but(std::size_t row, std::string_view option) const;
  std::string all_of(std::size_t row) const { return same_but(row, ""); }
  /// Those that are this one but for more warm-up steps.
  std::vector<std::size_t> with_more_warmup(std::size_t row) const;

 private:
  struct Option {
    std::uint32_t value = 0;  // equal ones have equal numbers; 0: none
    bool said = false;
  };
  struct Row {
    Json planned;
    std::size_t warmup = 0, steps = 0;
    std::vector<Option> options{};  // by the number of the name
  };
  void read(const RowResult& result);
  std::uint32_t number_of(const std::string& value);

  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t> values_;
  std::vector<Row> rows_;
  std::map<std::string, std::vector<std::size_t>> alike_;  // but for the warm-up
};

/// 200 steps, or two thirds of a shorter run.
inline std::size_t warmup_to_try(std::size_t steps) { return std::min<std::size_t>(200, steps * 2 / 3); }

}  // namespace addnorm
