// What runs any arrangement that is a row: SlotResidual holds its norms and coefficients, SlotStream is its stream.
#pragma once

#include <functional>
#include <memory>
#include <optional>
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

/// A write without a norm after the sum only leaves the branch pending: the next read adds it and takes its norm in one pass
/// over memory. The same bits as one by one. With an observer, the norm is taken by itself: inside the one pass the gradient
/// of the sum, skip and branch together, is not available.
class SlotStream final : public Stream {
 public:
  SlotStream(const SlotResidual& residual, const Pass& pass, StreamObserver* observer);

  State state() const override;
  void restore(const State& state) override;
  /// The stream with whatever is pending added: for arrangements that mix the outputs of whole layers.
  Var settled();

 private:
  void do_begin(const Var& x0) override;
  Var do_read(const Unit& unit) override;
  void do_write(const Unit& unit, const Var& f) override;
  Var do_close() override;

  Var read_stream(const Unit& unit, const SlotResidual::Slots& slots);
  Var read_normed(const Unit& unit, const SlotResidual::Slots& slots);
  void settle_for(const Norm& norm);
  Var settled(const Norm& norm);  // the norm of that, in one pass
  Var added(const Unit& unit, const Var& g) const;

  const SlotResidual& residual_;
  Pass pass_;
  Var x_;       // the skip's term while a branch is pending, the stream otherwise
  Var branch_;  // pending
  std::optional<Unit> pending_;
  Var normed_;  // N_in(x) of the unit that reads, where the skip takes it
};

}  // namespace addnorm
