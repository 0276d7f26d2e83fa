// layer_norm, rms_norm and their fused forms with the residual sum: one op, sum and normed value as its two outputs.
#include <array>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"
#include "autograd/graph.h"
#include "kernels/norm/add_norm.h"

namespace addnorm {
namespace {

using kernels::NormKind;

/// Inputs of the recorded node.
enum Input : std::size_t { kX, kF, kGamma, kBeta, kA, kB, kInputs };

struct NormProblem {
  const char* name;
  NormKind kind;
  Var x, f, gamma, beta;
  AddNormOptions options;
};

void check(const NormProblem& p) {
  detail::require_defined(p.name, "x", p.x);
  const std::size_t width = as_rows(p.x.shape()).width;
  const auto factor = [&](const char* what, const Factor& c) {
    if (!c.learned.defined()) return detail::require_finite_in(p.x.dtype(), p.name, what, c.constant);
    require(c.learned.shape() == Shape{width} || c.learned.value().elements() == 1, p.name, ": ", what, " is ", c.learned.shape(),
            "; it must have one element or the width of x, ", width);
    detail::require_same_dtype(p.name, what, c.learned, "x", p.x);
  };
  if (p.f.defined()) {
    require(p.f.shape() == p.x.shape(), p.name, ": f is ", p.f.shape(), ", x is ", p.x.shape());
    detail::require_same_dtype(p.name, "f", p.f, "x", p.x);
  }
  detail::require_vector_or_none(p.name, "gamma", p.gamma, p.x);
  detail::require_vector_or_none(p.name, "beta", p.beta, p.x);
  factor("the factor a", p.options.a);
  factor("the factor b", p.options.b);
  detail::require_eps(p.name, p.options.eps);
  require_one_of(p.name, "eps_place", p.options.eps_place, "EpsPlace", {"inside_root", "outside_root"});
  require(p.kind == NormKind::rms || p.options.eps_place == EpsPlace::inside_root, p.name,
          ": eps_place is outside_root; only RMS norm has a choice, layer norm adds eps to the variance");
  const float drop = p.options.dropout.p;
  require(drop >= 0 && drop < 1, p.name, ": dropout p is ", drop, "; it must be in [0, 1)");
}

template <class T>
const T* data_or_null(const Tensor& t) {
  return t.defined() ? t.data<T>() : nullptr;
}

template <class T>
Coefficient<T> coefficient(const Tensor& learned, double constant, std::size_t width) {
  if (!learned.defined()) return {static_cast<T>(constant), nullptr};
  if (learned.elements() == 1 && width != 1) return {*learned.data<T>(), nullptr};
  return {T{1}, learned.data<T>()};
}

Tensor value_or_none(const Var& v) { return v.defined() ? v.value() : Tensor(); }

/// What backward keeps. x and f only when a learned coefficient needs them.
struct AddNormSaved {
  NormKind kind;
  Tensor sum, mean, rstd, gamma, a, b, x, f;
  AddNormOptions options;
};

template <class T>
void run_backward(const AddNormSaved& s, const Tensor& dy, const Tensor& dsum, bool has_f, Grads& grads) {
  const auto [rows, width] = as_rows(s.sum.shape());
  AddNormGradArgs<T> n;
  n.rows = rows;
  n.width = width;
  n.dy = data_or_null<T>(dy);
  n.dsum = data_or_null<T>(dsum);
  n.sum = s.sum.data<T>();
  n.mean = data_or_null<double>(s.mean);
  n.rstd = s.rstd.data<T>();
  n.gamma = data_or_null<T>(s.gamma);
  n.gain_is_one_plus_gamma = s.options.gain_is_one_plus_gamma;
  n.a = coefficient<T>(s.a, s.options.a.constant, width);
  n.b = coefficient<T>(s.b, s.options.b.constant, width);
  n.dropout = s.options.dropout;
  n.eps = static_cast<T>(s.options.eps);
  n.eps_place = s.options.eps_place;
  n.x = data_or_null<T>(s.x);
  n.f = data_or_null<T>(s.f);

  std::array<Tensor, kInputs> out;
  const auto want = [&](Input input, const Shape& shape) -> T* {
    if (!grads.wanted(input)) return nullptr;
    out[input] = Tensor(shape, s.sum.dtype());
    return out[input].template data<T>();
  };
  // One buffer serves dx and df when the two are equal.
  const bool shared = has_f && n.a.is_one() && n.b.is_one() && n.dropout.p == 0.0f;
  n.dx = want(kX, s.sum.shape());
  if (shared && (n.dx || grads.wanted(kF))) {
    if (!n.dx) n.dx = want(kF, s.sum.shape());
    n.df = n.dx;
  } else if (has_f) {
    n.df = want(kF, s.sum.shape());
  }
  n.dgamma = want(kGamma, s.gamma.shape());
  n.dbeta = want(kBeta, Shape{width});
  n.da = want(kA, s.a.shape());
  n.db = want(kB, s.b.shape());

  Tensor scratch(Shape{kernels::add_norm_grad_scratch(n)}, s.sum.dtype());
  kernels::add_norm_grad(s.kind, n, scratch.data<T>());
  if (shared && grads.wanted(kX) && grads.wanted(kF)) out[kF] = out[kX];
  for (std::size_t i = 0; i < kInputs; ++i)
    if (out[i].defined()) grads.give(i, std::move(out[i]));
}

/// The norm of a sum by itself: the same bits as together with the sum.
Tensor normed(NormKind kind, const Tensor& sum, const Tensor& gamma, const Tensor& beta, const NormOptions& o) {
  Tensor y(sum.shape(), sum.dtype());
  const auto [rows, width] = as_rows(sum.shape());
  dispatch(sum.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    AddNormArgs<T> n;
    n.rows = rows;
    n.width = width;
    n.x = sum.data<T>();
    n.gamma = data_or_null<T>(gamma);
    n.beta = data_or_null<T>(beta);
    n.gain_is_one_plus_gamma = o.gain_is_one_plus_gamma;
    n.eps = static_cast<T>(o.eps);
    n.eps_place = o.eps_place;
    n.y = y.data<T>();
    kernels::add_norm(kind, n);
  });
  return y;
}

/// sum and y; the sum of a plain norm is x itself and is not written.
std::vector<Var> run(const NormProblem& p) {
  check(p);
  const auto [rows, width] = as_rows(p.x.shape());
  const AddNormOptions& o = p.options;
  const bool plain = !p.f.defined() && !o.a.learned.defined() && o.a.constant == 1.0;
  const bool layer = p.kind == NormKind::layer;

  Tensor sum = plain ? p.x.value() : Tensor(p.x.shape(), p.x.dtype());
  Tensor y(p.x.shape(), p.x.dtype());
  Tensor mean = layer ? Tensor(Shape{rows}, DType::f64) : Tensor();
  Tensor rstd(Shape{rows}, p.x.dtype());
  dispatch(p.x.dtype(), [&, rows = rows, width = width](auto zero) {
    using T = decltype(zero);
    AddNormArgs<T> n;
    n.rows = rows;
    n.width = width;
    n.x = p.x.data<T>();
    n.f = data_or_null<T>(value_or_none(p.f));
    n.gamma = data_or_null<T>(value_or_none(p.gamma));
    n.beta = data_or_null<T>(value_or_none(p.beta));
    n.gain_is_one_plus_gamma = o.gain_is_one_plus_gamma;
    n.a = coefficient<T>(value_or_none(o.a.learned), o.a.constant, width);
    n.b = coefficient<T>(value_or_none(o.b.learned), o.b.constant, width);
    n.dropout = o.dropout;
    n.eps = static_cast<T>(o.eps);
    n.eps_place = o.eps_place;
    n.sum = plain ? nullptr : sum.data<T>();
    n.y = y.data<T>();
    n.mean = layer ? mean.data<double>() : nullptr;
    n.rstd = rstd.data<T>();
    kernels::add_norm(p.kind, n);
  });

  AddNormSaved saved{p.kind, sum, mean, rstd, value_or_none(p.gamma), value_or_none(o.a.learned), value_or_none(o.b.learned),
                     {},     {},  o};
  if (o.a.learned.requires_grad()) saved.x = p.x.value();
  if (o.b.learned.requires_grad()) saved.f = value_or_none(p.f);
  saved.options.a.learned = saved.options.b.learned = Var();  // the closure must not keep the graph alive
  const NormOptions norm = o;

  std::vector<Var> outputs =
      record(p.name, {p.x, p.f, p.gamma, p.beta, o.a.learned, o.b.learned}, std::vector{sum, y},
             [saved = std::move(saved), has_f = p.f.defined()](std::span<const Tensor> d, Grads& grads) {
               dispatch(saved.sum.dtype(), [&](auto zero) { run_backward<decltype(zero)>(saved, d[1], d[0], has_f, grads); });
             });
  detail::computed_again_by(outputs[1], [kind = p.kind, sum, gamma = value_or_none(p.gamma), beta = value_or_none(p.beta), norm] {
    return normed(kind, sum, gamma, beta, norm);
  });
  return outputs;
}

SumAndNormed pair_of(std::vector<Var> outputs) { return {std::move(outputs[0]), std::move(outputs[1])}; }

AddNormOptions plain_options(const NormOptions& o) {
  AddNormOptions options;
  static_cast<NormOptions&>(options) = o;
  return options;
}

}  // namespace

SumAndNormed add_layer_norm(const Var& x, const Var& f, const Var& gamma, const Var& beta, const AddNormOptions& options) {
  require(f.defined(), "add_layer_norm: f is an undefined Var; without a second term use layer_norm");
  return pair_of(run({"add_layer_norm", NormKind::layer, x, f, gamma, beta, options}));
}

SumAndNormed add_rms_norm(const Var& x, const Var& f, const Var& gamma, const AddNormOptions& options) {
  require(f.defined(), "add_rms_norm: f is an undefined Var; without a second term use rms_norm");
  return pair_of(run({"add_rms_norm", NormKind::rms, x, f, gamma, Var(), options}));
}

Var layer_norm(const Var& x, const Var& gamma, const Var& beta, const NormOptions& options) {
  return std::move(run({"layer_norm", NormKind::layer, x, Var(), gamma, beta, plain_options(options)})[1]);
}

Var rms_norm(const Var& x, const Var& gamma, const NormOptions& options) {
  return std::move(run({"rms_norm", NormKind::rms, x, Var(), gamma, Var(), plain_options(options)})[1]);
}

}  // namespace addnorm
