#include <array>

#include "train/optimizer/optimizer_info.h"

namespace addnorm {
namespace {

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
    this->blocks().run([&](std::span<const kernels::UpdatePiece<T>> pieces) { kernels::adam(pieces, groups.data()); });
  }
};

}  // namespace

std::vector<OptimizerInfo> adam_optimizers() {
  const auto of = [](OptimizerKind kind, const char* name, double usual_decay) -> OptimizerInfo {
    return {.kind = kind,
            .name = name,
            .usual_rate = 1e-3,
            .usual_decay = usual_decay,
            .state_per_parameter = 2,
            .make = make_by_type<AdamOptimizer>};
  };
  return {of(OptimizerKind::adam, "adam", 0), of(OptimizerKind::adamw, "adamw", 0.1), of(OptimizerKind::radam, "radam", 0.1)};
}

}  // namespace addnorm
