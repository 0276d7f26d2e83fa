#include "addnorm/residual/residual.h"

#include "addnorm/residual/catalogue.h"
#include "residual/slot_residual.h"

namespace addnorm {

Residual::Residual(Arrangement arrangement, StackShape shape) : arrangement_(std::move(arrangement)), shape_(std::move(shape)) {
  check(shape_);
}

std::unique_ptr<Stream> Residual::open(const Var& x0, const Pass& pass, StreamObserver* observer) const {
  require(x0.defined() && x0.shape().rank() >= 1 && x0.shape().back() == shape_.width, "arrangement '", arrangement_.name,
          "': the stack's input is ", x0.defined() ? x0.shape().text() : "undefined", "; its last axis must be ", shape_.width);
  return do_open(x0, pass, observer);
}

std::unique_ptr<Residual> make_residual(const Arrangement& row, const StackShape& shape, const ResidualOptions& options) {
  return std::make_unique<SlotResidual>(row, shape, options);
}

std::unique_ptr<Residual> make_residual(std::string_view name, const StackShape& shape, const ResidualOptions& options) {
  return make_residual(arrangement_named(name), shape, options);
}

}  // namespace addnorm
