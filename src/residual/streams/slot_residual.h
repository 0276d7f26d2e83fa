// SlotResidual: runs any arrangement that is a row.
#pragma once

#include <vector>

#include "addnorm/residual/residual.h"

namespace addnorm {

class SlotResidual final : public Residual {
 public:
  SlotResidual(const Arrangement& row, const StackShape& shape, const ResidualOptions& options);

  BranchOptions branch(const Unit& unit) const override;
  bool needs_calibration() const override;
  void calibrate(const std::function<void(StreamObserver*)>& run) override;
  void visit(Visitor& visitor) override;

  /// The norms and learned coefficients of one unit; what is not there is the identity, or undefined.
  struct Slots {
    UnitSlots row;
    Norm in, out, post;
    Var a, b;                           ///< learned ones of this unit alone
    double in_scale, fixed_a, fixed_b;  ///< by the depth rules
  };
  const Slots& slots(const Unit& unit) const {
    check(shape(), unit);
    return units_[unit.index];
  }
  Factor a(const Unit& unit) const;
  Factor b(const Unit& unit) const;
  const Norm& entry() const { return entry_; }
  const Norm& exit() const { return exit_; }

 private:
  std::unique_ptr<Stream> do_open(const Pass& pass, StreamObserver* observer) const override;
  Var start_of(const CoefficientRule& rule, const Unit& unit) const;

  std::vector<Slots> units_;
  std::vector<Var> layer_a_, layer_b_;  // one per layer, shared by its units
  Norm entry_, exit_;
};

/// The Residual of a row to which options have been applied (with_options).
std::unique_ptr<Residual> make_chosen(const Arrangement& chosen, const StackShape& shape, const ResidualOptions& options);

}  // namespace addnorm
