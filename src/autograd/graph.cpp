#include "autograd/graph.h"

#include <cmath>

#include "kernels/elementwise/elementwise.h"

namespace addnorm::detail {
namespace {

/// Nodes whose last owner is gone, chained, waiting to be destroyed one after the other. Without it a chain of 100,000 ops would
/// be destroyed by 100,000 nested calls. Plain pointers: a Var may outlive the thread's objects. No container: a graph must be
/// freed even when memory has run out.
thread_local Node* dead = nullptr;
thread_local bool burying = false;

}  // namespace

GradSlot::~GradSlot() {
  if (!producer || producer.use_count() > 1) return;  // another output of the op still holds it
  Node& mine = *producer;
  mine.next_dead = dead;
  mine.last_owner = std::move(producer);
  dead = &mine;
  if (burying) return;
  burying = true;
  while (dead) {
    const std::shared_ptr<Node> node = std::move(dead->last_owner);
    dead = node->next_dead;
  }  // the slots of the node's inputs die here and queue their own producers
  burying = false;
}

Value::Value(Tensor t, bool requires_grad) : tensor(std::move(t)), slot(std::make_shared<GradSlot>()) {
  slot->shape = tensor.shape();
  slot->dtype = tensor.dtype();
  slot->requires_grad = requires_grad;
}

void computed_again_by(const Var& y, std::function<Tensor()> again) {
  if (y.requires_grad()) Node::value_of(y).again = std::move(again);
}

Kept::Kept(const Var& x) : shape_(x.shape()), again_(Node::value_of(x).again) {
  if (!again_) tensor_ = x.value();
}

std::shared_ptr<GradSlot> Node::slot_of(const Var& var) {
  if (!var.value_) return nullptr;
  const Tensor& tensor = var.value_->tensor;
  const std::shared_ptr<GradSlot>& slot = var.value_->slot;
  // Written only when needed: threads may record with the same leaf at the same time.
  if (!slot->producer && (slot->shape != tensor.shape() || slot->dtype != tensor.dtype())) {
    slot->shape = tensor.shape();
    slot->dtype = tensor.dtype();
  }
  return slot;
}

bool Node::would_require_grad(const Var& var) {
  return var.value_ && (var.value_->slot->requires_grad || var.value_->slot->unrecorded);
}

Var Node::make_var(std::shared_ptr<Value> value) {
  Var var;
  var.value_ = std::move(value);
  return var;
}

std::ostream& operator<<(std::ostream& out, const Node& node) {
  return out << "op '" << node.name << "'" << (node.path ? " in " : "") << (node.path ? *node.path : "");
}

void accumulate(Tensor& into, Tensor gradient) {
  if (!into.defined()) {
    into = std::move(gradient);
    return;
  }
  Tensor target = into.unique() ? into : Tensor(into.shape(), into.dtype());
  dispatch(into.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::add(into.data<T>(), gradient.data<T>(), into.elements(), target.data<T>());
  });
  into = std::move(target);
}

std::optional<NotFinite> first_not_finite(const Tensor& t) {
  return dispatch(t.dtype(), [&](auto zero) -> std::optional<NotFinite> {
    const auto values = t.values<decltype(zero)>();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i])) return NotFinite{i, static_cast<double>(values[i])};
    return std::nullopt;
  });
}

}  // namespace addnorm::detail
