#include "addnorm/residual/stream.h"

#include "addnorm/autograd/tape.h"

namespace addnorm {

void Stream::announce_branch(const Unit& unit, const Var& added) const {
  if (observer_ && !replaying()) observer_->on_branch(unit, added);
}
void Stream::announce_stream(const Unit* unit, const Var& x) const {
  if (observer_ && !replaying()) observer_->on_stream(unit, x);
}

}  // namespace addnorm
