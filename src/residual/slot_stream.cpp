#include "residual/slot_stream.h"

namespace addnorm {

SlotStream::SlotStream(const SlotResidual& residual, const Pass& pass, StreamObserver* observer)
    : Stream(observer), residual_(residual), pass_(pass) {}

void SlotStream::do_begin(const Var& x0) {
  x_ = residual_.entry()(x0, pass_);
  announce_stream(nullptr, x_);
}

Var SlotStream::do_read(const Unit& unit) {
  const SlotResidual::Slots& slots = residual_.slots(unit);
  if (!slots.row.in) return settled();
  normed_ = settled(slots.in);
  return slots.in_scale == 1 ? normed_ : scale(normed_, slots.in_scale);
}

void SlotStream::do_write(const Unit& unit, const Var& f) {
  const SlotResidual::Slots& slots = residual_.slots(unit);
  const Var g = slots.out(f, pass_);
  const Var skip = slots.row.skip == Skip::normed ? normed_ : x_;
  require(skip.defined(), "Stream::write: unit ", unit.index, " of stack '", residual_.shape().name,
          "' has not been read, and its skip is the N_in(x) that read computes; call read(unit) before write(unit, F)");
  normed_ = Var();
  if (slots.row.skip == Skip::none) {
    const Var branch = added(unit, g);
    announce_branch(unit, branch);
    x_ = slots.post(branch, pass_);
    announce_stream(&unit, x_);
    return;
  }
  if (watched()) announce_branch(unit, added(unit, g));
  if (slots.post.is_identity()) {
    x_ = skip;
    branch_ = g;
    pending_ = unit;
    return;
  }
  x_ = slots.post.add(skip, g, residual_.a(unit), residual_.b(unit), residual_.dropout(unit, pass_), pass_).y;
  announce_stream(&unit, x_);
}

Var SlotStream::do_close() { return residual_.exit().is_identity() ? settled() : settled(residual_.exit()); }

Var SlotStream::settled() {
  if (!pending_) return x_;
  const Unit unit = *pending_;
  x_ = residual_sum(x_, branch_, residual_.a(unit), residual_.b(unit), residual_.dropout(unit, pass_));
  branch_ = Var();
  pending_.reset();
  announce_stream(&unit, x_);
  return x_;
}

Var SlotStream::settled(const Norm& norm) {
  if (!pending_) return norm(x_, pass_);
  const Unit unit = *pending_;
  const Factor skip = residual_.a(unit), branch = residual_.b(unit);
  const DropoutSpec dropout = residual_.dropout(unit, pass_);
  SumAndNormed both;
  if (watched())  // the norm by itself, so that the gradient of the sum is there to be read
    both.sum = norm.sum(x_, branch_, skip, branch, dropout);
  else
    both = norm.add(x_, branch_, skip, branch, dropout, pass_);
  x_ = both.sum;
  branch_ = Var();
  pending_.reset();
  announce_stream(&unit, x_);
  return watched() ? norm(x_, pass_) : both.y;
}

/// b * dropout(g), by itself: what is added.
Var SlotStream::added(const Unit& unit, const Var& g) const {
  return times(dropped(g, residual_.dropout(unit, pass_)), residual_.b(unit));
}

Stream::State SlotStream::state() const { return pending_ ? State{{x_, branch_}, pending_} : State{{x_}, std::nullopt}; }

void SlotStream::restore(const State& state) {
  x_ = state.vars.at(0);
  pending_ = state.pending;
  branch_ = pending_ ? state.vars.at(1) : Var();
  normed_ = Var();
}

}  // namespace addnorm
