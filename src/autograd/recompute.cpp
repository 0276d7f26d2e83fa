// recompute: trade a second forward pass for the memory of the first one's activations.
#include "autograd/graph.h"

namespace addnorm {
namespace {

/// Fresh leaves with the same tensors, so that the second pass records a graph of its own. Each gradient that arrives at
/// one goes straight on to the input it stands for: additions happen in the same order as without recompute.
class Leaves {
 public:
  Leaves(const std::vector<Tensor>& tensors, const std::vector<bool>& wants, Grads& grads) {
    vars_.reserve(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      vars_.emplace_back(tensors[i], wants[i]);
      const auto slot = detail::Node::slot_of(vars_[i]);
      slot->forward_to = &grads;
      slot->output = i;
    }
  }
  ~Leaves() {
    for (const Var& var : vars_) detail::Node::slot_of(var)->forward_to = nullptr;  // fn may have kept a copy
  }
  Leaves(const Leaves&) = delete;
  Leaves& operator=(const Leaves&) = delete;

  const std::vector<Var>& vars() const { return vars_; }

 private:
  std::vector<Var> vars_;
};

void check(const RecomputeFn& fn, const std::vector<Var>& inputs) {
  require(fn != nullptr, "recompute: the function is empty");
  for (std::size_t i = 0; i < inputs.size(); ++i) require(inputs[i].defined(), "recompute: input ", i, " is an undefined Var");
}

}  // namespace

std::vector<Var> recompute(RecomputeFn fn, std::vector<Var> inputs) {
  check(fn, inputs);
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

  return record("recompute", inputs, std::move(ys),
                [fn = std::move(fn), kept, wants, path = detail::current_path()](std::span<const Tensor> dy, Grads& grads) {
                  const detail::RecordAgain again_as_then(path);
                  const std::uint64_t earliest = detail::upcoming_sequence();
                  const Leaves leaves(kept, wants, grads);
                  const std::vector<Var> again = fn(leaves.vars());
                  require(again.size() == dy.size(), "recompute: the function gave ", dy.size(), " results, and ", again.size(),
                          " when run again");
                  std::vector<Var> outputs;
                  std::vector<Tensor> dys;
                  for (std::size_t k = 0; k < again.size(); ++k)
                    if (dy[k].defined() && again[k].requires_grad()) {
                      outputs.push_back(again[k]);
                      dys.push_back(dy[k]);
                    }
                  detail::run_backward(outputs, dys, {}, earliest);
                });
}

}  // namespace addnorm
