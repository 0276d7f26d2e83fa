// Gradients of the norms and of the fused residual step, in double, through both outputs.
#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "support/gradients.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::input;
using test::normal_tensor;

std::vector<Var> both(const SumAndNormed& r) { return {r.sum, r.y}; }

TEST(Gradients, OfLayerNorm) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{layer_norm(in[0], in[1], in[2])}; }, input({3, 5}, 1), input({5}, 2),
                   input({5}, 3));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{layer_norm(in[0], Var(), Var())}; }, input({2, 2, 4}, 1));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{layer_norm(in[0], in[1], Var(), {.gain_is_one_plus_gamma = true})}; },
                   input({3, 4}, 1), input({4}, 2));
}

TEST(Gradients, OfRmsNorm) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{rms_norm(in[0], in[1])}; }, input({3, 5}, 1), input({5}, 2));
  EXPECT_GRADIENTS(
      [](const auto& in) { return std::vector{rms_norm(in[0], in[1], {.eps = 0.3f, .eps_place = EpsPlace::outside_root})}; },
      input({3, 5}, 1), input({5}, 2));
}

TEST(Gradients, OfTheFusedResidualStepThroughBothOutputs) {
  EXPECT_GRADIENTS([](const auto& in) { return both(add_layer_norm(in[0], in[1], in[2], in[3])); }, input({3, 5}, 1),
                   input({3, 5}, 2), input({5}, 3), input({5}, 4));
  EXPECT_GRADIENTS([](const auto& in) { return both(add_rms_norm(in[0], in[1], in[2])); }, input({3, 5}, 1), input({3, 5}, 2),
                   input({5}, 3));
}

TEST(Gradients, OfTheFusedResidualStepThroughOneOutputAlone) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{add_layer_norm(in[0], in[1], in[2], Var()).sum}; }, input({3, 5}, 1),
                   input({3, 5}, 2), input({5}, 3));
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{add_layer_norm(in[0], in[1], in[2], Var()).y}; }, input({3, 5}, 1),
                   input({3, 5}, 2), input({5}, 3));
}

TEST(Gradients, OfLearnedCoefficientsPerFeatureAndScalarWithDropout) {
  const auto step = [](const auto& in) {
    AddNormOptions options;
    options.a.learned = in[2];
    options.b.learned = in[3];
    options.dropout = {.p = 0.4f, .key = 7};
    return both(add_layer_norm(in[0], in[1], in[4], in[5], options));
  };
  EXPECT_GRADIENTS(step, input({4, 5}, 1), input({4, 5}, 2), input({5}, 3), input({5}, 4), input({5}, 5), input({5}, 6));
  EXPECT_GRADIENTS(step, input({4, 5}, 1), input({4, 5}, 2), input({1}, 3), input({1}, 4), input({5}, 5), input({5}, 6));
}

TEST(Gradients, OfConstantCoefficients) {
  EXPECT_GRADIENTS(
      [](const auto& in) {
        AddNormOptions options;
        options.a.constant = 2.5;
        options.b.constant = 0.25;
        return both(add_rms_norm(in[0], in[1], in[2], options));
      },
      input({3, 5}, 1), input({3, 5}, 2), input({5}, 3));
}

/// Every gradient of the op in float32, one flat list.
std::vector<Tensor> gradients(const std::function<std::vector<Var>(const std::vector<Var>&)>& fn,
                              const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs = nullptr) {
  std::vector<Var> vars;
  for (const Tensor& t : inputs) vars.emplace_back(t.clone(), true);
  const auto ys = fn(vars);
  std::vector<Tensor> dys, out;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    dys.push_back(normal_tensor(ys[k].shape(), 100 + k, ys[k].dtype()));
    if (outputs) outputs->push_back(ys[k].value());
  }
  backward(ys, dys);
  for (const Var& v : vars) out.push_back(v.grad());
  return out;
}

TEST(AddNormOp, FusedAndUnfusedGiveTheSameBitsForwardAndBackward) {
  for (const std::size_t width : {5u, 64u, 100u}) {
    const std::vector<Tensor> in{normal_tensor({70, width}, 1), normal_tensor({70, width}, 2), normal_tensor({width}, 3),
                                 normal_tensor({width}, 4)};
    std::vector<Tensor> fused_out, apart_out;
    const auto fused = gradients([](const auto& v) { return both(add_layer_norm(v[0], v[1], v[2], v[3])); }, in, &fused_out);
    const auto apart = gradients(
        [](const auto& v) {
          const Var sum = add(v[0], v[1]);
          return std::vector{sum, layer_norm(sum, v[2], v[3])};
        },
        in, &apart_out);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_SAME_BITS(fused_out[i].values<float>(), apart_out[i].values<float>());
    for (std::size_t i = 0; i < 4; ++i) EXPECT_SAME_BITS(fused[i].values<float>(), apart[i].values<float>());
  }
}

TEST(AddNormOp, RejectsShapesThatDisagreeAndSaysBoth) {
  const Var x(normal_tensor({3, 8}, 1)), narrow(normal_tensor({7}, 2)), f(normal_tensor({3, 7}, 3));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { layer_norm(x, narrow, Var()); }, {"layer_norm", "[7]", "[3, 8]"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { add_rms_norm(x, f, Var()); }, {"add_rms_norm", "[3, 7]", "[3, 8]"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { rms_norm(x, Var(), {.eps = -1.0f}); }, {"rms_norm", "eps is -1"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { layer_norm(Var(), Var(), Var()); }, {"layer_norm", "x"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { layer_norm(x, Var(), Var(), {.eps_place = EpsPlace::outside_root}); },
                                              {"layer_norm", "eps_place", "RMS norm"}));
  AddNormOptions outside;
  outside.eps_place = EpsPlace::outside_root;
  EXPECT_TRUE(
      test::throws_saying<UsageError>([&] { add_layer_norm(x, x, Var(), Var(), outside); }, {"add_layer_norm", "eps_place"}));
  const Var wide(normal_tensor({8}, 2, DType::f64));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { layer_norm(x, wide, Var()); }, {"float64", "float32"}));
}

}  // namespace
}  // namespace addnorm
