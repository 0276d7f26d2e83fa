// Optimizers: from gradients to new parameters. With g the gradient, t the update's number from 1 on, d the weight decay:
//
//   sgd        g += d p;  u = momentum u + g;  p -= lr u;  nesterov: p -= lr (g + momentum u)
//   adam       g += d p;  m += (1 - beta1)(g - m);  v += (1 - beta2)(g^2 - v);  p -= lr m / c1 / (sqrt(v / c2) + eps)
//   adamw      as adam, but d does not join g: p -= lr d p besides;  c1 = 1 - beta1^t, c2 = 1 - beta2^t
//   radam      as adamw, times a factor r(t) once v can be trusted; p -= lr m / c1 until then
//   adafactor  v of a matrix is kept as its row and column means; steps are relative to RMS(p), their RMS is clipped
//
// State has the shape of its parameter (adafactor: a number per row and per column), float32, or float64 as it is; coefficients
// are double. The formulas in full, and where they leave PyTorch's: docs/training.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "addnorm/core/names.h"
#include "addnorm/nn/module.h"

namespace addnorm {

enum class OptimizerKind : unsigned char { sgd, adam, adamw, radam, adafactor };
const char* name_of(OptimizerKind kind);                 ///< "sgd", "adam", "adamw", "radam", "adafactor"
std::span<const std::string> optimizer_names();          ///< in the order of the kinds
OptimizerKind optimizer_named(const std::string& name);  ///< an unknown one is a UsageError with the nearest

/// Fields that a kind does not have are left alone by it.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  double beta1 = 0.9;         ///< adam, adamw, radam
  double beta2 = 0.999;       ///< adam, adamw, radam
  double eps = 1e-8;          ///< adam, adamw, radam: added to the root, > 0
  double momentum = 0.9;      ///< sgd
  bool nesterov = false;      ///< sgd
  double weight_decay = 0.1;  ///< adamw, radam, adafactor: decoupled, p shrinks by lr * weight_decay; sgd, adam: weight_decay * p
                              ///< joins the gradient
  bool decay_all = false;     ///< false: norms, biases, gains and learned coefficients are left out
  double update_clip = 1.0;   ///< adafactor: an update whose RMS is above it is scaled down to it; >= 1
  bool decoupled_decay = true;  ///< radam; false: weight_decay * p joins the gradient (PyTorch's default)
  double beta2_power = 0.8;     ///< adafactor: beta2 = 1 - step^-beta2_power
  double eps1 = 0x1p-23;        ///< adafactor: least root of the second moment, and least mean of its rows
  double eps2 = 1e-3;           ///< adafactor: least RMS of a parameter that its steps are proportional to
};
/// A UsageError names the field, its value and what is allowed. `words`: what fields are called in it; null: by their names here.
void check(const OptimizerOptions& options, const FieldWords& words = nullptr);
/// What people usually take for a kind: no decay where it would join the gradient, beta2 and decay of AdamW as above.
OptimizerOptions usual_options(OptimizerKind kind);

/// Parameters that are treated alike, as they are printed.
struct ParameterGroup {
  std::string name;  ///< "decayed", "not decayed"
  double weight_decay = 0;
  std::size_t tensors = 0;
  std::size_t elements = 0;
  std::vector<std::string> paths{};
};
/// One line per group: "decayed by 0.1: 26 tensors, 10745088 elements (q, k, v, ...)".
std::string describe(std::span<const ParameterGroup> groups);

/// Refers to the parameters of a module, which outlives it and stays where it is: all float32, or all float64 (reference loops,
/// for tests). A parameter without gradient is not changed, nor is its state; the count of updates is one for all.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// One update by rate `lr`, with every gradient times `gradient_scale` (clipping). Same bits for any number of threads. One
  /// pass over all parameters (adafactor: three), whatever their number.
  virtual void step(double lr, double gradient_scale = 1) = 0;
  /// As the functions below for a module, without going through it: a tenth of a millisecond for some hundred tensors.
  virtual double gradient_norm() const = 0;
  virtual double parameter_norm() const = 0;  ///< of all parameters, in double: finite where all of them are
  virtual void clear_gradients() = 0;
  virtual std::int64_t steps() const = 0;  ///< updates so far
  virtual void set_steps(std::int64_t steps) = 0;
  virtual const std::vector<ParameterGroup>& groups() const = 0;
  /// Every tensor that the next update depends on besides parameters and gradients, always in the same order: what a checkpoint
  /// holds. "layers.0.self.qkv.weight.m". All are there from the start; one of another shape is refused by the next step.
  virtual void visit_state(const std::function<void(const std::string& name, Tensor& value)>& see) = 0;
};

std::unique_ptr<Optimizer> make_optimizer(Module& module, const OptimizerOptions& options);

/// sqrt of the sum of the squares of all gradients, in double; parameters without gradient count as 0. NaN or infinity pass
/// through, so a norm that is finite says that all gradients are. Same bits for any number of threads.
double gradient_norm(Module& module);
/// What gradients of this norm are multiplied by so that it becomes at most `max_norm`: min(1, max_norm / norm). max_norm 0: 1.
double clip_scale(double norm, double max_norm);
void clear_gradients(Module& module);

/// The first parameter, in the order of the traversal, whose value or gradient holds NaN or infinity.
struct BadValue {
  std::string path{};  ///< empty: there is none
  bool gradient = false;
  std::size_t index = 0;
  float value = 0;
  std::size_t count = 0;     ///< bad values of that tensor
  std::size_t elements = 0;  ///< of that tensor
};
BadValue first_bad_gradient(Module& module);
BadValue first_bad_parameter(Module& module);
/// "gradient of layers.3.ffn.in.weight: nan at element 17, 3 of 4096 are not finite"
std::string describe(const BadValue& bad);

}  // namespace addnorm
