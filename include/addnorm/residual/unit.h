// ResidualUnit: one residual connection around a function of your own.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "addnorm/residual/residual.h"

namespace addnorm {

/// y = unit(x, F) for any F from Var to Var that keeps the shape of x [..., d_model].
///
///   ResidualUnit unit("post-ln", 64);             y = N(x + F(x)), whatever the arrangement says
///   ResidualUnit unit(f);                        y = f(x + F(x)): the unit as He et al. write it; f left out: x + F(x)
///
/// What follows from depth (deepnorm's α, lns' 1/√l) is that of a stack with this one unit, or of the place that is named.
/// Arrangements in which more than the stream passes from unit to unit (b2t, resi-dual, parallel, denseformer, dlcl) cannot
/// be one unit; the error says why. A registered class can be a unit by itself only: it is made for a whole stack, and no place
/// can be cut out of a larger one. Admin measures a whole stack (Residual::calibrate): its ω starts at 1 here, as in the first
/// unit of a stack, and is yours to set. A unit has no entry and no exit: the norm after the last is yours to add.
class ResidualUnit : public Module {
 public:
  using Function = std::function<Var(const Var&)>;

  /// `site` is where its dropout masks come from: units of one model want different ones.
  ResidualUnit(std::string_view arrangement, std::size_t d_model, const ResidualOptions& options = {}, std::string site = "unit");
  /// A unit at its place in a stack; `row` may be one of your own.
  ResidualUnit(const Arrangement& row, const StackShape& stack, const Unit& place, const ResidualOptions& options = {});
  ResidualUnit() = default;
  template <class F>
  requires std::invocable<const F&, const Var&>
  explicit ResidualUnit(F f) : after_(std::move(f)) {}

  Var operator()(const Var& x, const Function& F, const Pass& pass = {}) const;
  /// What the arrangement wants inside F: a norm before the last projection, a gain per head.
  BranchOptions branch() const;
  /// Shows norms and coefficients: "in", "out", "post", "a", "b". What f captures is not seen.
  void visit(Visitor& visitor) override;

 private:
  std::unique_ptr<Residual> residual_;  // a stack of this unit alone; none in He's form
  Function after_;                      // f; none: the identity
};

}  // namespace addnorm
