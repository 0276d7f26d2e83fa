// N-15 for whole blocks: the gradients of a pre-norm and a post-norm block in double, every input and parameter.
#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/norms/hand_made_norm.h"
#include "support/gradients.h"

namespace addnorm {
namespace {

using test::input;
using Vars = std::vector<Var>;

/// Inputs of a block, in this order.
enum In : std::size_t { kX, kGamma1, kBeta1, kQkv, kQkvBias, kOut, kOutBias, kGamma2, kBeta2, kUp, kUpBias, kDown, kDownBias };

std::vector<Tensor> inputs_of(std::size_t batch, std::size_t tokens, std::size_t width, std::size_t hidden) {
  const std::vector<Shape> shapes{{batch, tokens, width},
                                  {width},
                                  {width},
                                  {3 * width, width},
                                  {3 * width},
                                  {width, width},
                                  {width},
                                  {width},
                                  {width},
                                  {hidden, width},
                                  {hidden},
                                  {width, hidden},
                                  {width}};
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Tensor t = input(shapes[i], 10 + i);
    // Matrices keep the size of what they multiply, so that no softmax or gelu is saturated and flat.
    const double size = shapes[i].rank() == 2 ? 1 / std::sqrt(static_cast<double>(shapes[i][1])) : 1.0;
    for (double& v : t.values<double>()) v *= size;
    inputs.push_back(std::move(t));
  }
  return inputs;
}

enum class Fault { none, one_percent, mean_term };

Var attend(const Vars& in, const Var& h) {
  const Var qkv = linear(h, in[kQkv], in[kQkvBias]);
  return linear(attention_packed(qkv, {.heads = 2, .causal = true}), in[kOut], in[kOutBias]);
}
Var feed_forward(const Vars& in, const Var& h) {
  return linear(linear(h, in[kUp], in[kUpBias], LinearActivation::gelu), in[kDown], in[kDownBias]);
}

/// s = x + A(N(x)),  s + F(N(s)). The fault, if any, is in what the first norm passes back.
Vars pre_norm(const Vars& in, Fault fault) {
  Var h = layer_norm(in[kX], in[kGamma1], in[kBeta1]);
  if (fault == Fault::one_percent) h = test::with_gradient_times(h, 1.01);
  if (fault == Fault::mean_term) h = add_bias(mul_row(test::hand_made_norm(in[kX], false, true), in[kGamma1]), in[kBeta1]);
  const auto [s, normed] = add_layer_norm(in[kX], attend(in, h), in[kGamma2], in[kBeta2]);
  return {add(s, feed_forward(in, normed))};
}

/// u = N(x + A(x)),  N(u + F(u)).
Vars post_norm(const Vars& in, Fault fault) {
  const Var a = attend(in, in[kX]);
  Var u = add_layer_norm(in[kX], a, in[kGamma1], in[kBeta1]).y;
  if (fault == Fault::one_percent) u = test::with_gradient_times(u, 1.01);
  if (fault == Fault::mean_term)
    u = add_bias(mul_row(test::hand_made_norm(add(in[kX], a), false, true), in[kGamma1]), in[kBeta1]);
  return {add_layer_norm(u, feed_forward(in, u), in[kGamma2], in[kBeta2]).y};
}

using Block = Vars (*)(const Vars&, Fault);

GradcheckFn plain(Block block, Fault fault = Fault::none) {
  return [=](const Vars& in) { return block(in, fault); };
}
GradcheckFn recomputed(Block block, Fault fault = Fault::none) {
  return [fn = plain(block, fault)](const Vars& in) { return recompute(fn, in); };
}

class N15_Block : public testing::TestWithParam<Block> {};
INSTANTIATE_TEST_SUITE_P(, N15_Block, testing::Values(&pre_norm, &post_norm),
                         [](const auto& which) { return which.index == 0 ? "PreNorm" : "PostNorm"; });

TEST_P(N15_Block, HasTheGradientsThatDifferencesGive) {
  const std::vector<Tensor> inputs = inputs_of(2, 3, 8, 16);
  for (const GradcheckFn& fn : {plain(GetParam()), recomputed(GetParam())}) {
    const GradcheckResult result = gradcheck(fn, inputs);
    EXPECT_TRUE(result.ok) << result.message;
  }
}

TEST_P(N15_Block, HasTheRightSlopeInRandomDirectionsAtALargerShape) {
  const std::vector<Tensor> inputs = inputs_of(2, 24, 32, 128);
  for (const GradcheckFn& fn : {plain(GetParam()), recomputed(GetParam())}) {
    const GradcheckResult result = gradcheck(fn, inputs, {.directions = 1});
    EXPECT_TRUE(result.ok) << result.message;
  }
}

TEST_P(N15_Block, WithAWrongGradientInsideItFails) {
  const std::vector<Tensor> small = inputs_of(2, 3, 8, 16), large = inputs_of(2, 24, 32, 128);
  for (const Fault fault : {Fault::one_percent, Fault::mean_term})
    for (const GradcheckFn& fn : {plain(GetParam(), fault), recomputed(GetParam(), fault)}) {
      EXPECT_FALSE(gradcheck(fn, {small}, {.directions = 2}).ok);
      EXPECT_FALSE(gradcheck(fn, {large}, {.directions = 1}).ok);
    }
  EXPECT_FALSE(gradcheck(plain(GetParam(), Fault::one_percent), small).ok);
  EXPECT_FALSE(gradcheck(plain(GetParam(), Fault::mean_term), small).ok);
}

}  // namespace
}  // namespace addnorm
