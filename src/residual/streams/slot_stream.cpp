#include "residual/streams/slot_stream.h"

namespace addnorm {

SlotStream::SlotStream(const SlotResidual& residual, const Pass& pass, StreamObserver* observer)
    : Stream(observer), residual_(residual), pass_(pass) {}

void SlotStream::do_begin(const Var& x0) {
  x_ = residual_.entry()(x0, pass_);
  announce_stream(nullptr, x_);
}

Var SlotStream::do_read(const Unit& unit) {
  const SlotResidual::Slots& slots = residual_.slots(unit);
  const Var u = slots.row.in ? read_normed(unit, slots) : read_stream(unit, slots);
  return !slots.row.in || slots.in_scale == 1 ? u : scale(u, slots.in_scale);
}

Var SlotStream::read_stream(const Unit& unit, const SlotResidual::Slots& slots) {
  const Var x = settled();
  if (slots.row.skip == Skip::none) return x;
  const Parted part = parted(unit, x);
  x_ = part.skip;
  return part.branch;
}

/// N_in(x). Skip and branch part before it, or, where the skip is N_in(x), after it.
Var SlotStream::read_normed(const Unit& unit, const SlotResidual::Slots& slots) {
  if (slots.row.skip == Skip::normed) {
    const Parted part = parted(unit, settled(slots.in));
    normed_ = part.skip;
    return part.branch;
  }
  if (!watched()) return settled(slots.in);
  settle_for(slots.in);
  return slots.in(read_stream(unit, slots), pass_);
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
  if (pending_ && !watched()) {
    const Unit unit = *pending_;
    const SumAndNormed both = norm.add(x_, branch_, residual_.a(unit), residual_.b(unit), residual_.dropout(unit, pass_), pass_);
    x_ = both.sum;
    branch_ = Var();
    pending_.reset();
    return both.y;
  }
  settle_for(norm);
  return norm(x_, pass_);
}

/// The sum that `norm` follows, with the bits that it has inside the one pass; by itself, so that its gradient can be read.
void SlotStream::settle_for(const Norm& norm) {
  if (!pending_) return;
  const Unit unit = *pending_;
  x_ = norm.sum(x_, branch_, residual_.a(unit), residual_.b(unit), residual_.dropout(unit, pass_));
  branch_ = Var();
  pending_.reset();
  announce_stream(&unit, x_);
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
