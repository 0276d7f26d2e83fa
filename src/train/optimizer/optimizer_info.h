// A kind of optimizer: its name, what is usual for it, and what makes it, in one value. Each has a file in train/optimizer/, and
// a line in the list in src/train/CMakeLists.txt.
#pragma once

#include <memory>
#include <vector>

#include "kernels/optimizer/updates.h"
#include "train/optimizer/base.h"

namespace addnorm {

struct OptimizerInfo {
  OptimizerKind kind;
  std::string name;
  double usual_rate;           ///< of the size that it takes
  double usual_decay = 0.1;    ///< 0 where decay would join the gradient
  double state_per_parameter;  ///< numbers kept for each
  std::unique_ptr<Optimizer> (*make)(Module&, const OptimizerOptions&);
};

/// Those of the list, in its order, which is that of OptimizerKind.
const std::vector<OptimizerInfo>& optimizer_kinds();
/// Refuses a number that is none of OptimizerKind's.
const OptimizerInfo& optimizer_kind(OptimizerKind kind);

/// Made for the type of the parameters: OptimizerOf<float> or OptimizerOf<double>.
template <template <class> class OptimizerOf>
std::unique_ptr<Optimizer> make_by_type(Module& module, const OptimizerOptions& options) {
  DType dtype = DType::f32;
  for_each_parameter(module, [&](const Parameter& p) { dtype = p.value.dtype(); });
  return dispatch(dtype, [&](auto zero) -> std::unique_ptr<Optimizer> {
    return std::make_unique<OptimizerOf<decltype(zero)>>(module, options);
  });
}

/// Optimizers whose update of an element depends on that element alone.
template <class T>
class ElementwiseOptimizer : public OptimizerBase {
 protected:
  ElementwiseOptimizer(Module& module, const OptimizerOptions& options, const std::vector<const char*>& states)
      : OptimizerBase(module, options) {
    for (TrainedParameter& p : parameters())
      for (const char* name : states) add_state(p, name, p.value->shape());
  }
  PieceBlocks<kernels::UpdatePiece<T>>& blocks() { return blocks_; }

 private:
  /// All elements that have a gradient. Pointers are taken again at every step: gradients are new tensors, and a checkpoint may
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
  PieceBlocks<kernels::UpdatePiece<T>> blocks_;
};

}  // namespace addnorm
