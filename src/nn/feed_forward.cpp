#include "addnorm/nn/feed_forward.h"

#include <array>

#include "addnorm/core/names.h"

namespace addnorm {
namespace {

constexpr std::array kActivations{"relu", "gelu", "gelu_tanh", "silu", "swiglu"};

std::vector<Part> rows_in(const FeedForwardOptions& o) {
  if (o.activation != Activation::swiglu) return {{Role::ffn_in, 0, o.d_ff}};
  return {{Role::ffn_gate, 0, o.d_ff}, {Role::ffn_in, o.d_ff, o.d_ff}};
}

}  // namespace

std::span<const std::string> activation_names() {
  static const std::vector<std::string> names(kActivations.begin(), kActivations.end());
  return names;
}
const char* name_of(Activation activation) { return kActivations.at(static_cast<std::size_t>(activation)); }

LinearActivation after_linear(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return LinearActivation::relu;
    case Activation::gelu:
      return LinearActivation::gelu;
    case Activation::gelu_tanh:
      return LinearActivation::gelu_tanh;
    case Activation::silu:
      return LinearActivation::silu;
    case Activation::swiglu:
      break;
  }
  return LinearActivation::none;
}

Activation activation_named(std::string_view name) {
  const std::string wanted = folded(name);
  if (wanted == folded("gelu_new") || wanted == folded("gelu_pytorch_tanh")) return Activation::gelu_tanh;
  if (wanted == "swish") return Activation::silu;
  for (std::size_t i = 0; i < kActivations.size(); ++i)
    if (folded(kActivations[i]) == wanted) return static_cast<Activation>(i);
  throw UsageError(unknown_name("activation", name, activation_names()));
}

FeedForward::FeedForward(const FeedForwardOptions& o)
    : options_(o),
      in_(o.d_model, rows_in(o), o.bias),
      inner_(o.inner_norm, o.d_ff),
      out_(o.d_ff, o.d_model, Role::ffn_out, o.bias) {}

Var FeedForward::operator()(const Var& x, const Pass& pass) const {
  const Var h = options_.activation == Activation::swiglu ? swiglu(in_(x)) : in_(x, after_linear(options_.activation));
  return out_(inner_(h, pass));
}

void FeedForward::visit(Visitor& visitor) {
  visitor.child("in", in_);
  visitor.child("norm", inner_);
  visitor.child("out", out_);
}

}  // namespace addnorm
