// FeedForward: the position-wise branch.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "addnorm/nn/linear.h"
#include "addnorm/nn/norm.h"

namespace addnorm {

enum class Activation : unsigned char { relu, gelu, gelu_tanh, silu, swiglu };
/// "relu", "gelu", "gelu_tanh" (also "gelu_new"), "silu" ("swish"), "swiglu"; an unknown name is a UsageError with the list.
Activation activation_named(std::string_view name);
const char* name_of(Activation activation);
std::span<const std::string> activation_names();
/// The same after a matrix product, in one pass; none for swiglu, which takes two numbers.
LinearActivation after_linear(Activation activation);

struct FeedForwardOptions {
  std::size_t d_model = 0;
  std::size_t d_ff = 0;
  Activation activation = Activation::gelu;
  bool bias = true;
  NormKindOptions inner_norm{.formula = NormFormula::none};  ///< of the hidden vector: normformer, sub-ln
};

///   W_2 N(act(W_1 x + b_1)) + b_2,   swiglu: W_2 N(silu(W_g x) * (W_1 x)) + b_2
///
/// x [..., d_model] -> the same shape. N is the identity unless an arrangement asks for a norm inside the branch. The gate and
/// W_1 of swiglu lie in one matrix, gate first.
class FeedForward : public Module {
 public:
  FeedForward() = default;
  explicit FeedForward(const FeedForwardOptions& options);

  Var operator()(const Var& x, const Pass& pass) const;
  void visit(Visitor& visitor) override;

 private:
  FeedForwardOptions options_;
  Linear in_;
  Norm inner_;
  Linear out_;
};

}  // namespace addnorm
