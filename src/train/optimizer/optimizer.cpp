#include "addnorm/train/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "kernels/optimizer/updates.h"
#include "train/optimizer/base.h"

namespace addnorm {
namespace {

using kernels::UpdatePiece;

const std::vector<std::string> kNames{"sgd", "adam", "adamw", "radam", "adafactor"};

/// Optimizers whose update of an element depends on that element alone.
template <class T>
class ElementwiseOptimizer : public OptimizerBase {
 protected:
  ElementwiseOptimizer(Module& module, const OptimizerOptions& options, const std::vector<const char*>& states)
      : OptimizerBase(module, options) {
    for (TrainedParameter& p : parameters())
      for (const char* name : states) add_state(p, name, p.value->shape());
  }
  PieceBlocks<UpdatePiece<T>>& blocks() { return blocks_; }

 private:
  /// All elements that have a gradient. Pointers are taken anew for every step: gradients are made anew, and a checkpoint may
  /// have replaced the rest.
  void gather() final {
    blocks_.clear();
    for (TrainedParameter& p : parameters())
      if (p.has_gradient()) add(p);
    blocks_.finish();
  }
  void add(TrainedParameter& p) {
    const T* g = p.value->grad().template data<T>();
    T* value = p.value->value().template data<T>();
    const auto state = [&](std::size_t k) { return k < p.state.size() ? p.state[k].value.template data<T>() : nullptr; };
    T *const m = state(0), *const v = state(1);
    const std::size_t n = p.value->value().elements();
    for (std::size_t i = 0; i < n; i += kPiece) {
      const std::size_t count = std::min(kPiece, n - i);
      blocks_.add({g + i, value + i, m ? m + i : nullptr, v ? v + i : nullptr, count, p.group}, count);
    }
  }
  PieceBlocks<UpdatePiece<T>> blocks_;
};

/// Adam, AdamW and RAdam.
template <class T>
class AdamOptimizer final : public ElementwiseOptimizer<T> {
 public:
  AdamOptimizer(Module& module, const OptimizerOptions& options) : ElementwiseOptimizer<T>(module, options, {"m", "v"}) {}

 private:
  kernels::reference::AdamFactors factors(std::size_t group, double lr, double gradient_scale) const {
    const OptimizerOptions& o = this->options();
    const bool rectified = o.kind == OptimizerKind::radam;
    return kernels::reference::AdamFactors({.lr = lr,
                                            .beta1 = o.beta1,
                                            .beta2 = o.beta2,
                                            .eps = o.eps,
                                            .weight_decay = this->weight_decay(group),
                                            .decoupled = rectified ? o.decoupled_decay : o.kind == OptimizerKind::adamw,
                                            .rectified = rectified,
                                            .step = this->steps(),
                                            .gradient_scale = gradient_scale});
  }
  void update(double lr, double gradient_scale) noexcept override {
    const std::array groups{factors(0, lr, gradient_scale), factors(1, lr, gradient_scale)};
    this->blocks().run([&](std::span<const UpdatePiece<T>> pieces) { kernels::adam(pieces, groups.data()); });
  }
};

template <class T>
class SgdOptimizer final : public ElementwiseOptimizer<T> {
 public:
  SgdOptimizer(Module& module, const OptimizerOptions& options) : ElementwiseOptimizer<T>(module, options, states(options)) {}

 private:
  static std::vector<const char*> states(const OptimizerOptions& options) {
    return options.momentum == 0 ? std::vector<const char*>{} : std::vector<const char*>{"velocity"};
  }
  kernels::SgdSettings settings(std::size_t group, double lr, double gradient_scale) const {
    const OptimizerOptions& o = this->options();
    return {.lr = lr,
            .momentum = o.momentum,
            .weight_decay = this->weight_decay(group),
            .nesterov = o.nesterov,
            .gradient_scale = gradient_scale};
  }
  void update(double lr, double gradient_scale) noexcept override {
    const std::array groups{settings(0, lr, gradient_scale), settings(1, lr, gradient_scale)};
    this->blocks().run([&](std::span<const UpdatePiece<T>> pieces) { kernels::sgd(pieces, groups.data()); });
  }
};

}  // namespace

const char* name_of(OptimizerKind kind) { return kNames.at(static_cast<std::size_t>(kind)).c_str(); }
std::span<const std::string> optimizer_names() { return kNames; }
OptimizerKind optimizer_named(const std::string& name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  require(found != kNames.end(), unknown_name("optimizer", name, kNames));
  return static_cast<OptimizerKind>(found - kNames.begin());
}

void check(const OptimizerOptions& o, FieldWords words) {
  const auto called = [&](const char* field) { return words ? words(field) : concat("optimizer: ", field); };
  const auto require_number = [&](const char* field, double value, bool ok, const char* allowed) {
    if (!std::isfinite(value) || !ok) refuse(called(field), " is ", value, "; it must be ", allowed);
  };
  require_one_of("optimizer", "kind", o.kind, "OptimizerKind", {"sgd", "adam", "adamw", "radam", "adafactor"});
  require_number("beta1", o.beta1, o.beta1 >= 0 && o.beta1 < 1, "from 0 to below 1");
  require_number("beta2", o.beta2, o.beta2 >= 0 && o.beta2 < 1, "from 0 to below 1");
  require_number("eps", o.eps, o.eps >= 1e-37, "at least 1e-37: a float 0 would divide 0 by 0");
  require_number("momentum", o.momentum, o.momentum >= 0 && o.momentum < 1, "from 0 to below 1");
  if (o.nesterov && o.kind == OptimizerKind::sgd && o.momentum == 0)
    refuse(called("nesterov"), " without momentum has no meaning; give a momentum between 0 and 1");
  require_number("weight_decay", o.weight_decay, o.weight_decay >= 0, "from 0 on");
  require_number("update_clip", o.update_clip, o.update_clip >= 1, "at least 1");
  require_number("beta2_power", o.beta2_power, o.beta2_power >= 0 && o.beta2_power <= 1, "from 0 to 1");
  require_number("eps1", o.eps1, o.eps1 >= 1e-18 && o.eps1 <= 1, "from 1e-18 (its square is a float) to 1");
  require_number("eps2", o.eps2, o.eps2 >= 0, "from 0 on");
}

OptimizerOptions usual_options(OptimizerKind kind) {
  OptimizerOptions options{.kind = kind};
  if (kind == OptimizerKind::sgd || kind == OptimizerKind::adam) options.weight_decay = 0;
  return options;
}

std::string describe(std::span<const ParameterGroup> groups) {
  std::string text;
  for (const ParameterGroup& g : groups) {
    if (g.tensors == 0) continue;
    text += g.weight_decay > 0 ? concat(g.name, " by ", g.weight_decay) : g.name;
    text += concat(": ", g.tensors, g.tensors == 1 ? " tensor, " : " tensors, ", g.elements,
                   g.elements == 1 ? " element\n" : " elements\n");
  }
  return text;
}

std::unique_ptr<Optimizer> make_optimizer(Module& module, const OptimizerOptions& options) {
  check(options);
  if (options.kind == OptimizerKind::adafactor) return make_adafactor(module, options);
  DType dtype = DType::f32;
  for_each_parameter(module, [&](const Parameter& p) { dtype = p.value.dtype(); });
  return dispatch(dtype, [&](auto zero) -> std::unique_ptr<Optimizer> {
    using T = decltype(zero);
    if (options.kind == OptimizerKind::sgd) return std::make_unique<SgdOptimizer<T>>(module, options);
    return std::make_unique<AdamOptimizer<T>>(module, options);
  });
}

}  // namespace addnorm
