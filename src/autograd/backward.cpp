// Backward: nodes are visited latest first, so that all gradients of a value have met before they travel on.
#include <algorithm>
#include <optional>
#include <queue>

#include "autograd/graph.h"
#include "tensor/arena/scope.h"

namespace addnorm {
namespace {

using detail::GradSlot;
using detail::Node;

struct EarlierRecorded {
  bool operator()(const std::shared_ptr<Node>& a, const std::shared_ptr<Node>& b) const { return a->sequence < b->sequence; }
};

/// The nodes still to visit. When an error ends the pass early, they forget what has arrived: the next pass starts clean.
class Queue {
 public:
  explicit Queue(std::uint64_t earliest) : earliest_(earliest) {}
  ~Queue() {
    while (!nodes_.empty()) {
      const std::shared_ptr<Node> node = next();
      for (Tensor& dy : node->dy) dy = Tensor();
    }
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  bool empty() const { return nodes_.empty(); }
  std::uint64_t earliest() const { return earliest_; }
  void push(const std::shared_ptr<Node>& node) {
    if (node->queued) return;
    nodes_.push(node);
    node->queued = true;
  }
  std::shared_ptr<Node> next() {
    std::shared_ptr<Node> node = nodes_.top();
    nodes_.pop();
    node->queued = false;
    return node;
  }

 private:
  std::priority_queue<std::shared_ptr<Node>, std::vector<std::shared_ptr<Node>>, EarlierRecorded> nodes_;
  std::uint64_t earliest_;
};

/// A leaf's gradient belongs to the optimizer, which may change it in place and reads it after the step: it is never shared
/// with a reader, and belongs to no ArenaScope.
void keep(GradSlot& leaf, Tensor gradient) {
  std::optional<OutsideArenaScopes> outlives_the_step;
  if (current_arena_scope() != nullptr) outlives_the_step.emplace();
  if (!leaf.grad.defined()) {
    leaf.grad = gradient.unique() ? std::move(gradient) : gradient.clone();
    leave_arena_scope(leaf.grad);
    return;
  }
  require(leaf.grad.shape() == gradient.shape() && leaf.grad.dtype() == gradient.dtype(), "backward: the gradient of a leaf is ",
          leaf.grad.shape(), " ", leaf.grad.dtype(), ", and ", gradient.shape(), " ", gradient.dtype(),
          " arrives; call clear_grad() after a change of shape or type");
  detail::accumulate(leaf.grad, std::move(gradient));
}

/// A gradient arrives at a value: a leaf keeps it, a computed value passes it to its producer, which is queued.
void arrive(GradSlot& slot, Tensor gradient, Queue& queue) {
  if (slot.forward_to) {
    slot.forward_to->give(slot.output, std::move(gradient));
    return;
  }
  if (!slot.producer) {
    keep(slot, std::move(gradient));
    return;
  }
  Node& node = *slot.producer;
  require(!node.released, "backward: ", node, " was already run backward and its saved values are released; ",
          "use keep_graph = true in the first backward to run it again");
  require(node.sequence >= queue.earliest(), "recompute: the function uses a result of ", node, " that it captured; ",
          "pass computed values as inputs, only leaves may be captured");
  queue.push(slot.producer);
  detail::accumulate(node.dy[slot.output], std::move(gradient));
}

class ArrivingGrads final : public Grads {
 public:
  ArrivingGrads(const Node& node, Queue& queue) : node_(node), queue_(queue) {}

  bool wanted(std::size_t input) const override {
    require(input < node_.inputs.size(), "backward: ", node_, " has ", node_.inputs.size(), " inputs; it asked for number ",
            input, " (counted from 0)");
    return node_.inputs[input] && node_.inputs[input]->requires_grad;
  }

  void give(std::size_t input, Tensor gradient) override {
    if (!wanted(input)) return;
    GradSlot& slot = *node_.inputs[input];
    require(gradient.defined(), "backward: ", node_, " gave an undefined gradient to input ", input, ", which is ", slot.shape);
    require(gradient.shape() == slot.shape && gradient.dtype() == slot.dtype, "backward: ", node_, " gave a gradient of ",
            gradient.shape(), " ", gradient.dtype(), " to input ", input, ", which is ", slot.shape, " ", slot.dtype);
    if (detail::checking_finite()) detail::require_finite(gradient, "gradient for input ", input, " of ", node_);
    const bool meets_another = !slot.producer && slot.grad.defined();
    arrive(slot, std::move(gradient), queue_);
    if (meets_another && detail::checking_finite())
      detail::require_finite(slot.grad, "sum of gradients for input ", input, " of ", node_);
  }

 private:
  const Node& node_;
  Queue& queue_;
};

/// Keeps copies of the arrived gradients where retain_grad() was called.
void retain(const Node& node, const std::vector<Tensor>& dy) {
  for (std::size_t k = 0; k < node.outputs.size(); ++k)
    if (const auto slot = node.outputs[k].lock(); slot && slot->retain_grad && dy[k].defined())
      detail::accumulate(slot->grad, slot->grad.defined() ? dy[k] : dy[k].clone());
}

/// Each gradient was finite when it was given; their sum, or what the caller gave, may not be.
void require_arrived_finite(const Node& node, const std::vector<Tensor>& dy) {
  for (std::size_t k = 0; k < dy.size(); ++k)
    if (dy[k].defined()) detail::require_finite(dy[k], "gradient arriving at output ", k, " of ", node);
}

void run(Queue& queue, BackwardOptions options) {
  while (!queue.empty()) {
    const std::shared_ptr<Node> node = queue.next();
    std::vector<Tensor> dy(node->dy.size());
    dy.swap(node->dy);  // first of all: whatever fails from here on, the node is clean
    if (detail::checking_finite()) require_arrived_finite(*node, dy);
    retain(*node, dy);
    ArrivingGrads grads(*node, queue);
    node->backward(dy, grads);
    if (!options.keep_graph) {
      node->released = true;
      node->backward = nullptr;
      node->inputs.clear();
    }
  }
}

}  // namespace

void detail::run_backward(std::span<const Var> outputs, std::span<const Tensor> dys, BackwardOptions options,
                          std::uint64_t earliest) {
  require(outputs.size() == dys.size(), "backward: ", outputs.size(), " outputs but ", dys.size(), " gradients");
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    require(outputs[k].defined(), "backward: output ", k, " is an undefined Var");
    const GradSlot& slot = *Node::slot_of(outputs[k]);
    require(!slot.unrecorded, "backward: output ", k,
            " was computed under NoGrad, so nothing was recorded; compute it outside of it");
    require(slot.requires_grad, "backward: output ", k, " does not depend on anything that requires a gradient; ",
            "make a leaf with Var(tensor, true)");
    require(dys[k].defined(), "backward: output ", k, " is ", slot.shape, ", its gradient is an undefined Tensor");
    require(dys[k].shape() == slot.shape && dys[k].dtype() == slot.dtype, "backward: output ", k, " is ", slot.shape, " ",
            slot.dtype, ", its gradient is ", dys[k].shape(), " ", dys[k].dtype());
    if (!slot.producer && detail::checking_finite())
      detail::require_finite(dys[k], "gradient arriving at output ", k, " of backward");
  }
  Queue queue(earliest);
  for (std::size_t k = 0; k < outputs.size(); ++k) arrive(*Node::slot_of(outputs[k]), dys[k], queue);
  run(queue, options);
}

void backward(std::span<const Var> outputs, std::span<const Tensor> dys, BackwardOptions options) {
  detail::run_backward(outputs, dys, options, 0);
}

void backward(const Var& output, const Tensor& dy, BackwardOptions options) {
  backward(std::span(&output, 1), std::span(&dy, 1), options);
}

void backward(const Var& loss, BackwardOptions options) {
  require(loss.defined(), "backward: the loss is an undefined Var");
  require(loss.value().elements() == 1, "backward: the loss has shape ", loss.shape(),
          "; give its gradient, or reduce it to one element");
  backward(loss, Tensor::full(loss.shape(), 1.0, loss.dtype()), options);
}

}  // namespace addnorm
