#include "addnorm/nn/norm.h"

#include <cmath>

#include "nn/norms/norm_kind_info.h"

namespace addnorm {
namespace {

void check(const NormKindOptions& o, std::size_t width) {
  require(width > 0, "Norm: width is 0; a row needs at least one feature");
  require(o.eps >= 0 && std::isfinite(o.eps), "Norm: eps is ", o.eps, "; it must be finite and not negative");
  require(o.part > 0 && o.part <= 1, "Norm: part is ", o.part, "; it must be above 0 and at most 1");
  require(std::isfinite(o.alpha), "Norm: alpha is ", o.alpha, "; it must be finite");
}

}  // namespace

Var times(const Var& x, const Factor& factor) {
  if (!factor.learned.defined()) return factor.constant == 1 ? x : scale(x, factor.constant);
  return factor.learned.value().elements() == 1 && x.shape().back() != 1 ? mul_scalar(x, factor.learned)
                                                                         : mul_row(x, factor.learned);
}

Var dropped(const Var& f, const DropoutSpec& d) { return d.p == 0 ? f : dropout(f, d.p, RandomKey::of_bits(d.key), d.first_row); }

Var residual_sum(const Var& x, const Var& f, const Factor& a, const Factor& b, const DropoutSpec& d) {
  return addnorm::add(times(x, a), times(dropped(f, d), b));
}

Norm::Norm(const NormKindOptions& options, std::size_t width) : options_(options) {
  const NormKindInfo& kind = norm_kind(options.formula);
  check(options, width);
  if (kind.has_gain(options)) own_.gamma = Var(Tensor::full({width}, options.gain_is_one_plus ? 0 : 1), true);
  if (kind.has_bias(options)) own_.beta = Var(Tensor::zeros({width}), true);
  if (kind.start) kind.start(options, width, own_);
}

Var Norm::operator()(const Var& x, const Pass& pass) const { return norm_kind(options_.formula).apply(options_, own_, x, pass); }

SumAndNormed Norm::fused(const Var& x, const Var& f, const Factor& a, const Factor& b, const DropoutSpec& dropout_spec) const {
  AddNormOptions options;
  options.eps = options_.eps;
  options.gain_is_one_plus_gamma = options_.gain_is_one_plus;
  options.eps_place = options_.eps_place;
  options.a = a;
  options.b = b;
  options.dropout = dropout_spec;
  return norm_kind(options_.formula).add(options_, own_, x, f, options);
}

SumAndNormed Norm::add(const Var& x, const Var& f, const Factor& a, const Factor& b, const DropoutSpec& dropout_spec,
                       const Pass& pass) const {
  if (norm_kind(options_.formula).add) return fused(x, f, a, b, dropout_spec);
  const Var sum = residual_sum(x, f, a, b, dropout_spec);
  return {sum, (*this)(sum, pass)};
}

Var Norm::sum(const Var& x, const Var& f, const Factor& a, const Factor& b, const DropoutSpec& dropout_spec) const {
  return norm_kind(options_.formula).add ? fused(x, f, a, b, dropout_spec).sum : residual_sum(x, f, a, b, dropout_spec);
}

void Norm::visit(Visitor& visitor) {
  visitor.parameter("weight", own_.gamma, Role::norm_gain);
  visitor.parameter("bias", own_.beta, Role::norm_bias);
  visitor.parameter("alpha", own_.alpha, Role::norm_gain);
  visitor.buffer("running_mean", own_.running_mean);
  visitor.buffer("running_var", own_.running_var);
}

}  // namespace addnorm
