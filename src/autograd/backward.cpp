// Backward: nodes are visited latest first, so that all gradients of a value have met before they travel on.
#include <algorithm>
#include <queue>

#include "autograd/graph.h"

namespace addnorm {
namespace {

using detail::Node;
using detail::Value;

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

/// A gradient arrives at a value: a leaf keeps it, a computed value passes it to its producer, which is queued.
void arrive(const std::shared_ptr<Value>& value, Tensor gradient, Queue& queue) {
  if (value->forward_to) {
    value->forward_to->give(value->output, std::move(gradient));
    return;
  }
  if (!value->producer) {
    // A leaf's gradient belongs to the optimizer, which may change it in place: never share it with a reader.
    if (!value->grad.defined() && !gradient.unique()) gradient = gradient.clone();
    detail::accumulate(value->grad, std::move(gradient));
    return;
  }
  Node& node = *value->producer;
  require(!node.released, "backward: ", node.where(), " was already run backward and its saved values are released; ",
          "use keep_graph = true in the first backward to run it again");
  require(node.sequence >= queue.earliest(), "recompute: the function uses a result of ", node.where(), " that it captured; ",
          "pass computed values as inputs, only leaves may be captured");
  queue.push(value->producer);
  detail::accumulate(node.dy[value->output], std::move(gradient));
}

class ArrivingGrads final : public Grads {
 public:
  ArrivingGrads(const Node& node, Queue& queue) : node_(node), queue_(queue) {}

  bool wanted(std::size_t input) const override { return node_.inputs[input].requires_grad(); }

  void give(std::size_t input, Tensor gradient) override {
    if (!wanted(input)) return;
    const auto& value = Node::value_of(node_.inputs[input]);
    require(gradient.shape() == value->tensor.shape() && gradient.dtype() == value->tensor.dtype(), "backward: ", node_.where(),
            " gave a gradient of ", gradient.shape(), " ", gradient.dtype(), " to input ", input, ", which is ",
            value->tensor.shape(), " ", value->tensor.dtype());
    if (detail::checking_finite()) detail::require_finite(gradient, concat("gradient for input ", input), node_.where());
    const bool meets_another = !value->producer && value->grad.defined();
    arrive(value, std::move(gradient), queue_);
    if (meets_another && detail::checking_finite())
      detail::require_finite(value->grad, concat("sum of gradients for input ", input), node_.where());
  }

 private:
  const Node& node_;
  Queue& queue_;
};

/// Keeps copies of the arrived gradients where somebody asked for them (retain_grad).
void retain(const Node& node) {
  for (std::size_t k = 0; k < node.outputs.size(); ++k)
    if (const auto value = node.outputs[k].lock(); value && value->retain_grad && node.dy[k].defined())
      detail::accumulate(value->grad, value->grad.defined() ? node.dy[k] : node.dy[k].clone());
}

void run(Queue& queue, BackwardOptions options) {
  while (!queue.empty()) {
    const std::shared_ptr<Node> node = queue.next();
    retain(*node);
    std::vector<Tensor> dy(node->dy.size());
    dy.swap(node->dy);
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
    require(outputs[k].requires_grad(), "backward: output ", k, " (op '", outputs[k].op(), "') does not depend on anything that ",
            "requires a gradient; make a leaf with Var(tensor, true)");
    require(dys[k].defined(), "backward: output ", k, " is ", outputs[k].shape(), ", its gradient is an undefined Tensor");
    require(dys[k].shape() == outputs[k].shape() && dys[k].dtype() == outputs[k].dtype(), "backward: output ", k, " is ",
            outputs[k].shape(), " ", outputs[k].dtype(), ", its gradient is ", dys[k].shape(), " ", dys[k].dtype());
  }
  Queue queue(earliest);
  for (std::size_t k = 0; k < outputs.size(); ++k) arrive(Node::value_of(outputs[k]), dys[k], queue);
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
