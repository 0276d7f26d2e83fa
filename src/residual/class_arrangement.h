// An arrangement that is more than a row: what runs it and everything that the catalogue says about it, in one value. Each has a
// file in streams/, and a line in the table in src/residual/CMakeLists.txt.
#pragma once

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "addnorm/residual/explain.h"
#include "addnorm/residual/residual.h"
#include "residual/explain/drawer.h"

namespace addnorm {

/// A stream at initialisation as a sum of independent terms of variance 1, the stack's input first and then every branch: its
/// gain is the first coefficient, its variance the sum of the squares.
class StreamSum {
 public:
  static StreamSum input() { return StreamSum({1}); }

  double variance() const { return std::inner_product(terms_.begin(), terms_.end(), terms_.begin(), 0.0); }
  double gain() const { return terms_.front(); }
  StreamSum normed() const { return times(1 / std::sqrt(variance())); }
  StreamSum times(double factor) const;
  /// With an independent term that no other sum has: term `index` of the stack.
  StreamSum with(std::size_t index, double deviation) const;
  friend StreamSum operator+(const StreamSum& a, const StreamSum& b);

 private:
  explicit StreamSum(std::vector<double> terms) : terms_(std::move(terms)) {}
  std::vector<double> terms_;
};

/// The deviation of a unit's branch, which reads something of variance 1.
struct BranchDeviation {
  const Arrangement& row;
  const StackShape& shape;
  NormalInit init;
  double operator()(const Unit& unit) const { return branch_gain(row, shape, unit, init); }
};

/// What explain.h needs of a class besides Arrangement::text.
struct ClassText {
  std::string exit{};             ///< what the stack gives; empty: as for a row
  std::string symbols{};          ///< what is learned, and where it starts
  std::string norm_note{};        ///< follows the symbols where there are norms
  std::size_t norms = 1;          ///< of each unit
  std::size_t layer_norms = 0;    ///< of each layer besides those
  std::size_t layer_numbers = 0;  ///< single numbers of each layer
  std::string layer_mix{};        ///< numbers of layer l, where that depends on l: "l + 1"
  std::string exit_mix{};         ///< numbers of the exit
};

struct ClassArrangement {
  Arrangement row;
  ResidualFactory make;  ///< class_maker
  ClassText said{};
  void (*choose)(ClassText&, const ArrangementChoices&) = nullptr;  ///< what choices change in it
  /// The stream at the stack's output, its exit norm included.
  StreamSum (*gain)(const StackShape&, const BranchDeviation&);
  Diagram (*draw)(const Drawer&, const ArrangementChoices&);
};

/// The gain of pre-ln, for classes that start as it.
StreamSum pre_ln_gain(const StackShape& shape, const BranchDeviation& s);

/// All of the catalogue: the rows of catalogue.cpp, then these.
const std::vector<Arrangement>& catalogue_rows();
/// Those of the table, in its order. Made at the first call: a program's own globals may ask before main.
const std::vector<ClassArrangement>& class_arrangements();
/// Null if the catalogue has no class of this row's name; class_of refuses that.
const ClassArrangement* find_class(const Arrangement& row);
const ClassArrangement& class_of(const Arrangement& row);
/// With the choices of this row.
ClassText class_text(const Arrangement& row);

/// A factory of R, which is made of (row, shape, options, more...).
template <class R, auto... more>
std::unique_ptr<Residual> class_maker(const Arrangement& row, const StackShape& shape, const ResidualOptions& options) {
  return std::make_unique<R>(row, shape, options, more...);
}

}  // namespace addnorm
