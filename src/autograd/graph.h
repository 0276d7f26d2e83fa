// The recorded graph: values, where their gradients are collected, and the nodes between them. Internal to autograd.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/autograd/tape.h"

namespace addnorm::detail {

/// Where the gradient of a value is collected. It knows the shape of the value, not its elements: nodes hold slots, so what
/// was computed may go as soon as neither a Var nor a backward function reads it.
struct GradSlot {
  Shape shape;  // a leaf's may change until it is used: see slot_of
  DType dtype = DType::f32;
  Tensor grad;                     // leaves, and values whose gradient is retained
  std::shared_ptr<Node> producer;  // null for a leaf
  std::size_t output = 0;          // which output of the producer this is
  bool requires_grad = false;
  bool retain_grad = false;
  bool unrecorded = false;      // would require a gradient, had NoGrad not been there
  Grads* forward_to = nullptr;  // a leaf of a recomputed part: what arrives goes on to input `output` of these

  GradSlot() = default;
  GradSlot(const GradSlot&) = delete;
  GradSlot& operator=(const GradSlot&) = delete;
  ~GradSlot();
};

/// What a Var points to.
struct Value {
  Tensor tensor;
  std::shared_ptr<GradSlot> slot;  // never null
  std::function<Tensor()> again;   // computes the tensor once more, see Kept; mostly empty

  Value(Tensor t, bool requires_grad);
};

/// One recorded op.
struct Node {
  const char* name = "";
  std::shared_ptr<const std::string> path;        // null: no NameScope
  std::uint64_t sequence = 0;                     // order of recording: consumers are always later than producers
  std::vector<std::shared_ptr<GradSlot>> inputs;  // null for an undefined Var
  std::vector<std::weak_ptr<GradSlot>> outputs;
  std::vector<Tensor> dy;  // what has arrived so far, one per output
  BackwardFn backward;
  bool queued = false;
  bool released = false;             // backward ran and its saved values are gone
  std::shared_ptr<Node> last_owner;  // itself, while it waits for its end; see ~GradSlot
  Node* next_dead = nullptr;

  /// The slot of a Var, null if it is undefined. A leaf's tensor may have been exchanged since (initialisation); its slot
  /// follows.
  static std::shared_ptr<GradSlot> slot_of(const Var& var);
  /// It requires a gradient, or would if it had not been computed under NoGrad.
  static bool would_require_grad(const Var& var);
  static Var make_var(std::shared_ptr<Value> value);
  static Value& value_of(const Var& var) { return *var.value_; }  // of one that is defined

  /// "op 'layer_norm' in blocks.3/attn"
  friend std::ostream& operator<<(std::ostream& out, const Node& node);
};

/// into += gradient, in one rounded addition per element; `into` is replaced when it is still read elsewhere.
void accumulate(Tensor& into, Tensor gradient);

bool checking_finite();
struct NotFinite {
  std::size_t element;
  double value;
};
std::optional<NotFinite> first_not_finite(const Tensor& t);
/// Throws NumericsError if t holds a NaN or infinity. The parts say what t is; they are put together only then.
template <class... Parts>
void require_finite(const Tensor& t, const Parts&... what) {
  if (const auto bad = first_not_finite(t)) [[unlikely]]
    throw NumericsError(concat(what..., " is ", bad->value, " at element ", bad->element, " of ", t.shape()));
}

/// The path of this thread, shared by all callers before it changes; null: no NameScope.
std::shared_ptr<const std::string> current_path();

/// While it lives, ops record as they did where `path` was current, and replaying() is true: for the second pass of recompute,
/// which must record even if backward was called under NoGrad.
class RecordAgain {
 public:
  explicit RecordAgain(const std::shared_ptr<const std::string>& path);
  ~RecordAgain();
  RecordAgain(const RecordAgain&) = delete;
  RecordAgain& operator=(const RecordAgain&) = delete;

 private:
  int no_grad_before_;
  bool replaying_before_;
  std::string path_before_;
};

/// The sequence number that the next recorded op will at least have.
std::uint64_t upcoming_sequence();

/// backward() that refuses to run nodes recorded before `earliest`.
void run_backward(std::span<const Var> outputs, std::span<const Tensor> dys, BackwardOptions options, std::uint64_t earliest);

// Values that backward reads and need not keep: they are computed again from what is kept anyway.
//
// The output of an activation follows from its argument, the output of a norm from what it normed; both ops keep these for their
// own backward. So a product that reads such an output keeps the recipe instead: of a layer 10 arrays [tokens, width] stay
// instead of 16, for one more pass over memory. A recipe gives the same bits as the op gave.

/// Says how y, just recorded, can be computed again: `again` captures only tensors that the op's own backward keeps. Without
/// effect where nothing was recorded. Changing y's elements (Var::value()) then makes it an ordinary value.
void computed_again_by(const Var& y, std::function<Tensor()> again);

/// What a backward function captures of an input.
class Kept {
 public:
  explicit Kept(const Var& x);
  const Shape& shape() const { return shape_; }
  Tensor tensor() const { return again_ ? again_() : tensor_; }  ///< a new one each time where it is computed again

 private:
  Shape shape_;
  Tensor tensor_;                  // undefined where there is a recipe
  std::function<Tensor()> again_;  // empty: the tensor itself is kept
};

}  // namespace addnorm::detail
