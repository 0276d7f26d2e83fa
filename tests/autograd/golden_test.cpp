// Our float32 ops, forward and backward, against PyTorch in float64 from the same float32 inputs.
#include "support/golden.h"

#include "addnorm/autograd/ops.h"
#include "kernels/optimizer/updates.h"

namespace addnorm {
namespace {

using test::Golden;
using test::goldens;
using test::gradient_tolerance;
using test::norm_tolerance;

/// Both outputs and the gradients of x, f and gamma of a fused norm: op(x, f, gamma).
template <class Op>
void expect_add_norm(const Golden& g, const Op& op) {
  const Var x = g.leaf("x"), f = g.leaf("f"), gamma = g.leaf("gamma");
  const SumAndNormed out = op(x, f, gamma);
  backward(std::vector<Var>{out.sum, out.y}, std::vector<Tensor>{g["dsum"], g["dy"]});
  EXPECT_NEAR_ALL(out.sum.value(), g["sum"], test::exact());
  EXPECT_NEAR_ALL(out.y.value(), g["y"], norm_tolerance());
  EXPECT_NEAR_ALL(x.grad(), g["dx"], gradient_tolerance());
  EXPECT_NEAR_ALL(f.grad(), g["dx"], gradient_tolerance());
  EXPECT_NEAR_ALL(gamma.grad(), g["dgamma"], gradient_tolerance());
}

TEST(Golden, AddLayerNorm) {
  for (const Golden& g : goldens("add_layer_norm")) {
    SCOPED_TRACE(g.name());
    const Var beta = g.leaf("beta");
    expect_add_norm(g, [&](const Var& x, const Var& f, const Var& gamma) { return add_layer_norm(x, f, gamma, beta); });
    EXPECT_NEAR_ALL(beta.grad(), g["dbeta"], gradient_tolerance());
  }
}

TEST(Golden, AddRmsNorm) {
  for (const Golden& g : goldens("add_rms_norm")) {
    SCOPED_TRACE(g.name());
    expect_add_norm(g, [](const Var& x, const Var& f, const Var& gamma) { return add_rms_norm(x, f, gamma); });
  }
}

TEST(Golden, BatchNorm) {
  for (const Golden& g : goldens("batch_norm")) {
    SCOPED_TRACE(g.name());
    const Var x = g.leaf("x"), gamma = g.leaf("gamma"), beta = g.leaf("beta");
    Tensor mean = g["running_mean"], var = g["running_var"];
    if (g.contains("fixed")) {
      const Var fixed = batch_norm(x, gamma, beta, mean, var, {.train = false});
      EXPECT_NEAR_ALL(fixed.value(), g["fixed"], norm_tolerance());
    }
    const Var y = batch_norm(x, gamma, beta, mean, var);
    backward(y, g["dy"]);
    EXPECT_NEAR_ALL(y.value(), g["y"], norm_tolerance());
    EXPECT_NEAR_ALL(x.grad(), g["dx"], gradient_tolerance());
    EXPECT_NEAR_ALL(gamma.grad(), g["dgamma"], gradient_tolerance());
    EXPECT_NEAR_ALL(beta.grad(), g["dbeta"], gradient_tolerance());
    EXPECT_NEAR_ALL(mean, g["new_mean"], test::elementwise_tolerance());
    EXPECT_NEAR_ALL(var, g["new_var"], test::elementwise_tolerance());
  }
}

TEST(Golden, CrossEntropy) {
  for (const Golden& g : goldens("cross_entropy")) {
    SCOPED_TRACE(g.name());
    const Var logits = g.leaf("logits");
    const std::vector<std::int64_t> wide = g.integers("targets");
    const std::vector<std::int32_t> targets(wide.begin(), wide.end());
    const Var loss = cross_entropy(logits, targets, {.label_smoothing = g.setting("smoothing")});
    backward(loss);
    EXPECT_NEAR_ALL(loss.value(), g["loss"], test::softmax_tolerance());
    EXPECT_NEAR_ALL(logits.grad(), g["dlogits"], test::softmax_tolerance());
  }
}

TEST(Golden, Gelu) {
  for (const Golden& g : goldens("gelu")) {
    SCOPED_TRACE(g.name());
    const Var x = g.leaf("x");
    const Var y = gelu(x, g.name() == "tanh" ? GeluForm::tanh : GeluForm::exact);
    backward(y, g["dy"]);
    EXPECT_NEAR_ALL(y.value(), g["y"], test::slope_tolerance());
    EXPECT_NEAR_ALL(x.grad(), g["dx"], gradient_tolerance());
  }
}

TEST(Golden, Attention) {
  for (const Golden& g : goldens("attention")) {
    SCOPED_TRACE(g.name());
    const Var q = g.leaf("q"), k = g.leaf("k"), v = g.leaf("v");
    AttentionOptions options;
    options.heads = static_cast<std::size_t>(g.setting("heads"));
    options.kv_heads = static_cast<std::size_t>(g.setting("kv_heads"));
    options.causal = g.setting("causal") != 0;
    const Var y = attention(q, k, v, options);
    backward(y, g["dy"]);
    EXPECT_NEAR_ALL(y.value(), g["y"], test::softmax_tolerance());
    EXPECT_NEAR_ALL(q.grad(), g["dq"], gradient_tolerance());
    EXPECT_NEAR_ALL(k.grad(), g["dk"], gradient_tolerance());
    EXPECT_NEAR_ALL(v.grad(), g["dv"], gradient_tolerance());
  }
}

TEST(Golden, Linear) {
  for (const Golden& g : goldens("linear")) {
    SCOPED_TRACE(g.name());
    const Var x = g.leaf("x"), w = g.leaf("w"), bias = g.leaf("bias");
    const Var y = linear(x, w, bias);
    backward(y, g["dy"]);
    EXPECT_NEAR_ALL(y.value(), g["y"], test::reduction_tolerance(x.shape().back()));
    EXPECT_NEAR_ALL(x.grad(), g["dx"], test::reduction_tolerance(y.shape().back()));
    EXPECT_NEAR_ALL(w.grad(), g["dw"], test::reduction_tolerance(x.shape()[0]));
    EXPECT_NEAR_ALL(bias.grad(), g["dbias"], test::reduction_tolerance(x.shape()[0]));
  }
}

TEST(Golden, FiftyStepsOfAdamW) {
  for (const Golden& g : goldens("adamw")) {
    Tensor p = g["p"], m = Tensor::zeros(p.shape()), v = Tensor::zeros(p.shape());
    const Tensor gradients = g["g"];
    kernels::AdamSettings settings{.lr = g.setting("lr"),
                                   .beta1 = g.setting("beta1"),
                                   .beta2 = g.setting("beta2"),
                                   .eps = g.setting("eps"),
                                   .weight_decay = g.setting("weight_decay")};
    for (std::size_t step = 1; step <= gradients.shape()[0]; ++step) {
      settings.step = static_cast<std::int64_t>(step);
      kernels::adam(gradients.data<float>() + (step - 1) * p.elements(), settings, p.elements(), p.data<float>(), m.data<float>(),
                    v.data<float>());
      const std::string name = concat("p", step);
      if (g.contains(name)) {
        EXPECT_NEAR_ALL(p, g[name], test::steps_tolerance(step)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace addnorm
