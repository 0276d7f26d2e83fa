// SlotStream: the stream of an arrangement that is a row.
#pragma once

#include "residual/streams/slot_residual.h"

namespace addnorm {

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
