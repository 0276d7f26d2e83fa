#include "addnorm/residual/stream.h"

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"

namespace addnorm {

Var Stream::close() {
  Var y = do_close();
  if (observer_ && !replaying()) observer_->on_output(y);
  return y;
}

void Stream::announce_branch(const Unit& unit, const Var& added) const {
  if (observer_ && !replaying()) observer_->on_branch(unit, added);
}
void Stream::announce_stream(const Unit* unit, const Var& x) const {
  if (observer_ && !replaying()) observer_->on_stream(unit, x);
}

Stream::Parted Stream::parted(const Unit& unit, const Var& x) const {
  if (!watched()) return {x, x};
  const Var branch = reshape(x, x.shape());  // recorded first: its gradient arrives last, as it does without an observer
  const Parted both{reshape(x, x.shape()), branch};
  if (!replaying()) observer_->on_parting(unit, x, both.skip, both.branch);
  return both;
}

}  // namespace addnorm
