// What experiments are made of: random numbers, small stacks and models, and what is read from them at initialisation.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/autograd/ops.h"
#include "addnorm/claims/claim.h"
#include "addnorm/data/dataset.h"
#include "addnorm/model/model.h"
#include "addnorm/residual/residual.h"
#include "core/figures.h"
#include "tensor/numbers.h"

namespace addnorm::lab {

// Numbers.

Tensor random_tensor(const Shape& shape, std::uint64_t seed, DType dtype = DType::f32);  ///< N(0, 1)
inline Var random_var(const Shape& shape, std::uint64_t seed, DType dtype = DType::f32, bool requires_grad = false) {
  return Var(random_tensor(shape, seed, dtype), requires_grad);
}
/// How far tokens are from being one vector: RMS of X without its mean over all rows, over its RMS.
double token_spread(const Tensor& x);

/// d f / d x at x [n] by central differences, in double: [m, n].
Tensor jacobian(const std::function<Var(const Var&)>& f, const Tensor& x, double h = 1e-5);

// Stacks with made-up branches.

using Branch = std::function<Var(const Unit&, const Var&)>;
Var run_units(const Residual& residual, const Var& x, const Branch& branch, const Pass& pass = {},
              StreamObserver* observer = nullptr);
inline Var silent(const Unit&, const Var& u) { return scale(u, 0); }
/// Layer norm without parameters.
inline Var normed(const Var& x, float eps = 1e-5f) { return layer_norm(x, Var(), Var(), {.eps = eps}); }

/// F_i(u) = W_i u, W_i ~ N(0, gain^2 / width): variance gain^2 of unit variance, independent of u.
class LinearBranches {
 public:
  LinearBranches(const StackShape& shape, std::uint64_t seed, double gain = 1, DType dtype = DType::f32);
  /// A gain for each unit.
  LinearBranches(const StackShape& shape, std::uint64_t seed, const std::vector<double>& gains, DType dtype = DType::f32);
  Var operator()(const Unit& unit, const Var& u) const { return linear(u, weights[unit.index]); }
  std::vector<Var> weights;
};
/// What arrives at x of the gradient dy at y: its length over that of dy.
double gradient_passed(const Var& y, const Tensor& dy, const Var& x);
inline StackShape units_of(std::size_t count, std::size_t width) {  ///< one unit per layer
  return {.width = width, .layers = count, .sub_layers = {SubLayer::ffn}};
}

/// Keeps what a stream announces; the first stream is the stack's input.
struct Watch : StreamObserver {
  void on_branch(const Unit&, const Var& added) override { branches.push_back(added); }
  void on_stream(const Unit*, const Var& x) override {
    streams.push_back(x);
    if (x.requires_grad()) streams.back().retain_grad();
  }
  std::vector<Var> branches, streams;
};

// Starts. What is compared starts by one rule, the context's, whatever its authors advise; gains that are part of a formula stay.

/// Deviation of a square matrix of that role at the start, in this layer.
double start_deviation(const ClaimContext& context, Role role, const StackShape& shape, std::string_view arrangement = "residual",
                       std::size_t layer = 0);
/// Of made-up branches of one matrix, for LinearBranches: the deviation of each as W_2 times the root of the width, with two
/// units to a layer. 1 by Xavier's rule: they give as much as they read.
std::vector<double> branch_gains(const ClaimContext& context, const StackShape& shape);
/// Draws the weights of a module outside of a model, as if it were in a stack of this shape.
void draw(Module& module, const ClaimContext& context, const StackShape& shape, std::uint64_t seed);

// Models.

/// Decoder of bench I: d = 64, 4 heads, d_ff = 256, sequences of 32 random tokens out of 64.
ModelConfig bench_model(const ClaimContext& context, std::string_view arrangement, std::size_t layers);
std::unique_ptr<Model> started(const ModelConfig& config, std::uint64_t seed);
Batch random_batch(const ModelConfig& config, std::size_t sequences, std::uint64_t seed);

/// One forward and backward pass. Places: the stack's input, then the stream after each unit.
struct Profile {
  double loss = 0;
  std::vector<double> stream_rms{}, gradient{}, spread{};  ///< by place
  std::vector<double> branch_rms{};                        ///< by unit, as added
  double gradient_ratio() const { return gradient.front() / gradient.back(); }
};
/// Gradients of parameters are left in the model.
Profile profile_of(const Model& model, const Batch& batch, bool train = false);

/// See every parameter of one role in the order of layers.
std::vector<Var> parameters_of(Model& model, Role role);
double gradient_length(const Var& parameter);  ///< 0 where none arrived

// Verdicts.

inline ClaimVerdict holds(std::string measured) { return {Finding::yes, "", std::move(measured)}; }
inline ClaimVerdict fails(std::string measured) { return {Finding::no, "", std::move(measured)}; }
inline ClaimVerdict holds_if(std::string condition, std::string measured) {
  return {Finding::partly, std::move(condition), std::move(measured)};
}
inline ClaimVerdict mixed(std::string measured) { return {Finding::partly, "", std::move(measured)}; }
/// Too much noise to say either, or nothing to test it on.
inline ClaimVerdict undecided(std::string measured) { return {Finding::open, "", std::move(measured)}; }

}  // namespace addnorm::lab
