// The tape: how an op records itself, and how gradients run back through what was recorded.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/autograd/var.h"

namespace addnorm {

/// Where the backward function of an op puts the gradients of its inputs.
class Grads {
 public:
  virtual bool wanted(std::size_t input) const = 0;  ///< false: not needed; do not compute it
  /// Adds `gradient` (the shape and dtype of the input) to what has arrived there: the first arrival is taken as it is,
  /// every further one meets it in exactly one rounded addition per element.
  virtual void give(std::size_t input, Tensor gradient) = 0;

 protected:
  ~Grads() = default;
};

/// dy[k] is the gradient of output k, undefined where none arrived (at least one did). Runs at most once unless the
/// graph is kept; keeps only what it reads.
using BackwardFn = std::function<void(std::span<const Tensor> dy, Grads& grads)>;
/// The same for ops with one output, whose gradient is always defined.
using SimpleBackwardFn = std::function<void(const Tensor& dy, Grads& grads)>;

/// Makes the Var(s) of an op's result. The backward function is kept only if gradients are enabled and some input
/// requires one. Of the inputs nothing is kept but where their gradients go: a tensor that backward reads is captured by
/// `backward`. An input may be Var(), "none": no gradient is wanted there. `name` must outlive the program (a literal):
/// errors and NaN reports use it.
Var record(const char* name, const std::vector<Var>& inputs, Tensor y, SimpleBackwardFn backward);
std::vector<Var> record(const char* name, const std::vector<Var>& inputs, std::vector<Tensor> ys, BackwardFn backward);

struct BackwardOptions {
  bool keep_graph = false;  ///< keep saved values for a second backward; else each is released as soon as it was used
};

/// Gradients of sum_k sum(outputs[k] * dys[k]) into the leaves that require one, added to what is there.
/// Iterative: a chain of any length needs no stack. The order of additions is fixed by the order of recording.
///
/// When it throws (an op's backward, CheckFinite, no memory), leaves may already hold part of their gradient: clear_grad()
/// before the next attempt. Without keep_graph the ops that ran are released, and the graph cannot run again; with it,
/// nothing of the failed pass is left in the graph.
///
/// The gradients of leaves are made outside any ArenaScope: they can be read after the step.
/// Those kept by retain_grad() belong to the scope, like the values.
///
/// Graphs and leaves are not locked: threads may record with the same leaves at the same time, but only one may run backward
/// into them, and a graph belongs to one thread at a time.
void backward(std::span<const Var> outputs, std::span<const Tensor> dys, BackwardOptions options = {});
void backward(const Var& output, const Tensor& dy, BackwardOptions options = {});
void backward(const Var& loss, BackwardOptions options = {});  ///< loss has one element; dy = 1

/// While it lives, ops on this thread record nothing. NoGrad and CheckFinite may end in any order, but on the thread that
/// made them.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
};
bool grad_enabled();

/// True while recompute runs a function for the second time: side effects of the first pass (running statistics,
/// counters) must not be repeated.
bool replaying();

/// Computes fn(inputs) and keeps only the inputs; backward computes fn again and runs through it. fn must be a pure
/// function of its inputs and of the leaves it captures (dropout by counter is); it returns the op's outputs. Where it has an
/// effect besides, it asks replaying() first, as batch_norm does.
using RecomputeFn = std::function<std::vector<Var>(const std::vector<Var>& inputs)>;
std::vector<Var> recompute(RecomputeFn fn, std::vector<Var> inputs);

/// While it lives, ops recorded on this thread carry this name as part of their path, and every UsageError raised on it ends
/// with the path: "blocks.3/attn". The end of an outer scope ends those inside, whose own end then does nothing. A scope must end
/// on the thread that made it.
class NameScope {
 public:
  explicit NameScope(std::string_view name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

 private:
  std::size_t before_;
};

/// While it lives, every op's result and every gradient on this thread is checked, as an op gives it and again where several
/// have met: the first NaN or infinity throws NumericsError naming the op, its path, the position and the value. Costs two
/// reads of everything.
class CheckFinite {
 public:
  CheckFinite();
  ~CheckFinite();
  CheckFinite(const CheckFinite&) = delete;
  CheckFinite& operator=(const CheckFinite&) = delete;
};

}  // namespace addnorm
