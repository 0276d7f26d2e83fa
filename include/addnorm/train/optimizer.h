// Optimizers: from gradients to new parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "addnorm/nn/module.h"

namespace addnorm {

enum class OptimizerKind : unsigned char { sgd, adam, adamw, radam, adafactor };

/// Fields that a kind does not have are left alone by it.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  double beta1 = 0.9;     ///< adam, adamw, radam
  double beta2 = 0.999;   ///< adam, adamw, radam
  double eps = 1e-8;      ///< adam, adamw, radam
  double momentum = 0.9;  ///< sgd
  bool nesterov = false;  ///< sgd
  double weight_decay =
      0.1;                 ///< adamw, radam, adafactor: decoupled (p shrinks by lr * weight_decay); sgd, adam: joins the gradient
  bool decay_all = false;  ///< false: norms, biases, gains and learned coefficients are left out
  double update_clip = 1.0;  ///< adafactor: an update whose RMS is above it is scaled down to it
};
/// A UsageError names the field, its value and what is allowed.
void check(const OptimizerOptions& options);

/// Parameters that are treated alike, as a person is told.
struct ParameterGroup {
  std::string name;  ///< "decayed", "not decayed"
  double weight_decay = 0;
  std::size_t tensors = 0;
  std::size_t elements = 0;
  std::vector<std::string> paths{};
};

/// Refers to the parameters of a module, which outlives it. Float32 parameters. A parameter without gradient is not changed.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// One update by rate `lr`, with every gradient times `gradient_scale` (clipping). Same bits for any number of threads.
  virtual void step(double lr, double gradient_scale = 1) = 0;
  virtual std::int64_t steps() const = 0;  ///< updates so far
  virtual void set_steps(std::int64_t steps) = 0;
  virtual const std::vector<ParameterGroup>& groups() const = 0;
  /// Every tensor that the next update depends on besides parameters and gradients, always in the same order: what a checkpoint
  /// holds. "layers.0.self.qkv.weight.m"
  virtual void visit_state(const std::function<void(const std::string& name, Tensor& value)>& see) = 0;
};

std::unique_ptr<Optimizer> make_optimizer(Module& module, const OptimizerOptions& options);

/// sqrt of the sum of the squares of all gradients, in double; parameters without gradient count as 0. NaN or infinity pass
/// through.
double gradient_norm(Module& module);
void clear_gradients(Module& module);

/// The first parameter, in the order of the traversal, whose value or gradient holds NaN or infinity.
struct BadValue {
  std::string path;  ///< empty: there is none
  bool gradient = false;
  std::size_t index = 0;
  float value = 0;
  std::size_t count = 0;  ///< bad values of that tensor
};
BadValue first_bad_gradient(Module& module);
BadValue first_bad_parameter(Module& module);

}  // namespace addnorm
