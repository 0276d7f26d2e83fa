#include <array>

#include "train/optimizer/optimizer_info.h"

namespace addnorm {
namespace {

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
    this->blocks().run([&](std::span<const kernels::UpdatePiece<T>> pieces) { kernels::sgd(pieces, groups.data()); });
  }
};

}  // namespace

std::vector<OptimizerInfo> sgd_optimizers() {
  return {{.kind = OptimizerKind::sgd,
           .name = "sgd",
           .usual_rate = 3e-2,
           .usual_decay = 0,
           .state_per_parameter = 1,
           .make = make_by_type<SgdOptimizer>}};
}

}  // namespace addnorm
