// recompute: trade a second forward pass for the memory of the first one's activations.
#include "autograd/graph.h"

namespace addnorm {
namespace {

/// Fresh leaves with the same tensors, so that the second pass records a graph of its own.
std::vector<Var> as_leaves(const std::vector<Tensor>& tensors, const std::vector<bool>& wants) {
  std::vector<Var> leaves;
  leaves.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) leaves.emplace_back(tensors[i], wants[i]);
  return leaves;
}

}  // namespace

std::vector<Var> recompute(RecomputeFn fn, std::vector<Var> inputs) {
  if (!grad_enabled()) return fn(inputs);

  std::vector<Tensor> kept;
  std::vector<bool> wants;
  for (const Var& input : inputs) {
    kept.push_back(input.value());
    wants.push_back(input.requires_grad());
  }
  std::vector<Tensor> ys;
  {
    const NoGrad no_grad;
    for (const Var& y : fn(inputs)) ys.push_back(y.value());
  }
  // fn may capture parameters that require a gradient although no input does: an extra empty input keeps the node alive.
  inputs.emplace_back(Tensor(Shape{0}), true);

  return record("recompute", std::move(inputs), std::move(ys),
                [fn = std::move(fn), kept, wants](std::span<const Tensor> dy, Grads& grads) {
    const std::vector<Var> leaves = as_leaves(kept, wants);
    const std::vector<Var> again = fn(leaves);
    std::vector<Var> outputs;
    std::vector<Tensor> dys;
    for (std::size_t k = 0; k < again.size(); ++k)
      if (dy[k].defined() && again[k].requires_grad()) {
        outputs.push_back(again[k]);
        dys.push_back(dy[k]);
      }
    backward(outputs, dys);
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (leaves[i].grad().defined()) grads.give(i, leaves[i].grad());
  });
}

}  // namespace addnorm
