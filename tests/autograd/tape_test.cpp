#include "addnorm/autograd/tape.h"

#include "addnorm/autograd/ops.h"
#include "support/near.h"

namespace addnorm {
namespace {

TEST(Tape, RunsAChainOfAHundredThousandOpsForwardBackwardAndDestroysIt) {
  Var x(Tensor::full({2}, 1.0), true);
  Var y = x;
  const Var step(Tensor::full({2}, 0.0));
  for (int i = 0; i < 100000; ++i) y = add(y, step);
  backward(y, Tensor::of({2}, {3.0f, 5.0f}));
  EXPECT_EQ(x.grad().values<float>()[1], 5.0f);
}

TEST(Tape, DestroysALongChainThatNeverRanBackward) {
  Var y(Tensor::full({1}, 1.0), true);
  for (int i = 0; i < 100000; ++i) y = mul(y, y.detach());
}

TEST(Tape, RecomputeGivesTheSameGradientsAndReachesCapturedLeaves) {
  Var w(Tensor::of({2}, {2.0f, 3.0f}), true);
  const Var x(Tensor::of({2}, {5.0f, 7.0f}), true);
  const auto y = recompute([w](const std::vector<Var>& in) { return std::vector{mul(mul(in[0], w), w)}; }, {x});
  backward(y[0], Tensor::of({2}, {1.0f, 1.0f}));
  EXPECT_EQ(x.grad().values<float>()[1], 9.0f);
  EXPECT_EQ(w.grad().values<float>()[1], 2 * 3.0f * 7.0f);
}

}  // namespace
}  // namespace addnorm
