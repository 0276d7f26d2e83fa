// Recording: the state of this thread (gradients on or off, path, checks) and the making of nodes.
#include <atomic>

#include "autograd/graph.h"

namespace addnorm {
namespace {

struct Recording {
  bool grad = true;
  bool check_finite = false;
  bool replaying = false;
  std::string path;
};
thread_local Recording recording;
std::atomic<std::uint64_t> next_sequence{1};

}  // namespace

NoGrad::NoGrad() : before_(recording.grad) { recording.grad = false; }
NoGrad::~NoGrad() { recording.grad = before_; }
bool grad_enabled() { return recording.grad; }
bool replaying() { return recording.replaying; }

NameScope::NameScope(std::string_view name) : before_(recording.path.size()) {
  if (before_ != 0) recording.path += '/';
  recording.path += name;
}
NameScope::~NameScope() { recording.path.resize(before_); }

CheckFinite::CheckFinite() : before_(recording.check_finite) { recording.check_finite = true; }
CheckFinite::~CheckFinite() { recording.check_finite = before_; }

namespace detail {

bool checking_finite() { return recording.check_finite; }

std::shared_ptr<const std::string> current_path() {
  return recording.path.empty() ? nullptr : std::make_shared<const std::string>(recording.path);
}

RecordAgain::RecordAgain(const std::shared_ptr<const std::string>& path)
    : grad_before_(recording.grad), replaying_before_(recording.replaying), path_before_(recording.path) {
  recording.grad = true;
  recording.replaying = true;
  recording.path = path ? *path : std::string();
}
RecordAgain::~RecordAgain() {
  recording.grad = grad_before_;
  recording.replaying = replaying_before_;
  recording.path.swap(path_before_);
}

std::uint64_t upcoming_sequence() { return next_sequence.load(std::memory_order_relaxed); }

}  // namespace detail

std::vector<Var> record(const char* name, const std::vector<Var>& inputs, std::vector<Tensor> ys, BackwardFn backward) {
  bool needs_grad = false;
  if (recording.grad)
    for (const Var& input : inputs) needs_grad |= input.requires_grad();

  auto node = std::make_shared<detail::Node>();
  node->name = name;
  if (needs_grad || recording.check_finite) node->path = detail::current_path();
  if (recording.check_finite)
    for (const Tensor& y : ys) detail::require_finite(y, "result", node->where());

  std::vector<Var> outputs;
  outputs.reserve(ys.size());
  for (std::size_t k = 0; k < ys.size(); ++k) {
    auto value = std::make_shared<detail::Value>(std::move(ys[k]), needs_grad);
    if (needs_grad) {
      value->slot->producer = node;
      value->slot->output = k;
      node->outputs.push_back(value->slot);
    }
    outputs.push_back(detail::Node::make_var(std::move(value)));
  }
  if (needs_grad) {
    require(backward != nullptr, name, ": the backward function is empty");
    node->sequence = next_sequence.fetch_add(1, std::memory_order_relaxed);
    node->inputs.reserve(inputs.size());
    for (const Var& input : inputs) node->inputs.push_back(detail::Node::slot_of(input));
    node->dy.resize(outputs.size());
    node->backward = std::move(backward);
  }
  return outputs;
}

Var record(const char* name, const std::vector<Var>& inputs, Tensor y, SimpleBackwardFn backward) {
  require(backward != nullptr, name, ": the backward function is empty");
  std::vector<Tensor> ys;
  ys.push_back(std::move(y));
  auto outputs = record(name, inputs, std::move(ys),
                        [backward = std::move(backward)](std::span<const Tensor> dy, Grads& grads) { backward(dy[0], grads); });
  return std::move(outputs[0]);
}

}  // namespace addnorm
