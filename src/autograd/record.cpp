// Recording: the state of this thread (gradients on or off, path, checks) and the making of nodes.
#include <algorithm>
#include <atomic>

#include "autograd/graph.h"

namespace addnorm {
namespace {

/// Scopes are counted, not restored: they may end in any order. Below 0: one that another thread made ended here, which
/// must switch nothing. The path is error_scope(), so that every message has it.
struct Recording {
  int no_grad = 0;
  int check_finite = 0;
  bool replaying = false;
};
thread_local Recording recording;
/// What current_path() gave last: all ops of a scope share one copy. Compared, not reset: code that changes error_scope() need
/// not know of it.
thread_local std::shared_ptr<const std::string> last_path;
/// The scopes whose names are in the path, outermost first; never followed, only compared. One that is not here any more
/// was ended by an outer one: the path is no longer its own.
thread_local std::vector<const NameScope*> open_names;
std::atomic<std::uint64_t> next_sequence{1};

}  // namespace

NoGrad::NoGrad() { ++recording.no_grad; }
NoGrad::~NoGrad() { --recording.no_grad; }
bool grad_enabled() { return recording.no_grad <= 0; }
bool replaying() { return recording.replaying; }

NameScope::NameScope(std::string_view name) : before_(error_scope().size()) {
  open_names.push_back(this);
  if (before_ != 0) error_scope() += '/';
  error_scope() += name;
}
NameScope::~NameScope() {
  const auto self = std::ranges::find(open_names, this);
  if (self == open_names.end()) return;
  open_names.erase(self, open_names.end());
  std::string& path = error_scope();
  if (path.size() > before_) path.resize(before_);
}

CheckFinite::CheckFinite() { ++recording.check_finite; }
CheckFinite::~CheckFinite() { --recording.check_finite; }

namespace detail {

bool checking_finite() { return recording.check_finite > 0; }

std::shared_ptr<const std::string> current_path() {
  if (error_scope().empty()) return nullptr;
  if (!last_path || *last_path != error_scope()) last_path = std::make_shared<const std::string>(error_scope());
  return last_path;
}

RecordAgain::RecordAgain(const std::shared_ptr<const std::string>& path)
    : no_grad_before_(recording.no_grad), replaying_before_(recording.replaying), path_before_(error_scope()) {
  recording.no_grad = 0;
  recording.replaying = true;
  error_scope() = path ? *path : std::string();
}
RecordAgain::~RecordAgain() {
  recording.no_grad = no_grad_before_;
  recording.replaying = replaying_before_;
  error_scope().swap(path_before_);
}

std::uint64_t upcoming_sequence() { return next_sequence.load(std::memory_order_relaxed); }

}  // namespace detail

std::vector<Var> record(const char* name, const std::vector<Var>& inputs, std::vector<Tensor> ys, BackwardFn backward) {
  const bool needs_grad = grad_enabled() && std::ranges::any_of(inputs, &Var::requires_grad);
  const bool unrecorded = !grad_enabled() && std::ranges::any_of(inputs, &detail::Node::would_require_grad);

  auto node = std::make_shared<detail::Node>();
  node->name = name;
  if (needs_grad || detail::checking_finite()) node->path = detail::current_path();
  if (detail::checking_finite())
    for (const Tensor& y : ys) detail::require_finite(y, "result of ", *node);

  std::vector<Var> outputs;
  outputs.reserve(ys.size());
  for (std::size_t k = 0; k < ys.size(); ++k) {
    auto value = std::make_shared<detail::Value>(std::move(ys[k]), needs_grad);
    value->slot->unrecorded = unrecorded;
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
