#include "train/optimizer/base.h"

#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/tensor/arena.h"

namespace addnorm {

OptimizerBase::OptimizerBase(Module& module, const OptimizerOptions& options) : options_(options) {
  check(options);
  groups_ = {{.name = "decayed", .weight_decay = options.weight_decay}, {.name = "not decayed"}};
  for_each_parameter(module, [&](Parameter& p) {
    const std::size_t group = options.decay_all || is_matrix(p.role) ? 0 : 1;
    parameters_.push_back({p.path, &p.value, group});
    groups_[group].tensors += 1;
    groups_[group].elements += p.value.value().elements();
    groups_[group].paths.push_back(p.path);
    const DType first = parameters_.front().value->dtype();
    require(p.value.dtype() == first, "make_optimizer: ", p.path, " is ", p.value.dtype(), ", ", parameters_.front().path, " is ",
            first, "; all parameters must be of one type, see convert()");
  });
}

void OptimizerBase::add_state(TrainedParameter& parameter, const char* name, const Shape& shape) {
  const OutsideArenaScopes outlives_steps;
  parameter.state.push_back({name, Tensor::zeros(shape, parameter.value->dtype()), shape});
}

void OptimizerBase::check_tensors() const {
  for (const TrainedParameter& p : parameters_) {
    const Tensor& value = p.value->value();
    for (const OptimizerState& s : p.state)
      require(s.value.defined() && s.value.shape() == s.shape && s.value.dtype() == value.dtype(), "Optimizer::step: ", p.path,
              ".", s.name, " must be ", s.shape, " ", value.dtype(), ", as it was made");
    if (const Tensor& g = p.value->grad(); g.defined())
      require(g.shape() == value.shape() && g.dtype() == value.dtype(), "Optimizer::step: the gradient of ", p.path, " is ",
              g.shape(), " ", g.dtype(), ", the parameter ", value.shape(), " ", value.dtype());
  }
}

void OptimizerBase::step(double lr, double gradient_scale) {
  require(std::isfinite(lr) && lr >= 0, "Optimizer::step: the learning rate is ", lr, "; it must be a number from 0 on");
  require(std::isfinite(gradient_scale) && gradient_scale >= 0, "Optimizer::step: gradients are to be multiplied by ",
          gradient_scale, "; it must be a number from 0 on");
  check_tensors();
  gather();
  ++steps_;
  update(lr, gradient_scale);
}

double OptimizerBase::gradient_norm() const {
  GradientNorm all;
  for (const TrainedParameter& p : parameters_) all.add(p.value->grad());
  return all.norm();
}
double OptimizerBase::parameter_norm() const {
  GradientNorm all;
  for (const TrainedParameter& p : parameters_) all.add(p.value->value());
  return all.norm();
}
void OptimizerBase::clear_gradients() {
  for (TrainedParameter& p : parameters_) p.value->clear_grad();
}

void OptimizerBase::set_steps(std::int64_t steps) {
  require(steps >= 0, "Optimizer::set_steps: ", steps, " updates given; it must be 0 or more");
  steps_ = steps;
}

void OptimizerBase::visit_state(const std::function<void(const std::string& name, Tensor& value)>& see) {
  for (TrainedParameter& p : parameters_)
    for (OptimizerState& s : p.state) see(p.path + "." + s.name, s.value);
}

}  // namespace addnorm
