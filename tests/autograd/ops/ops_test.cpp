// Gradient checks in double of every op and every input, through the same Var and tape that training uses.
#include "addnorm/autograd/ops.h"

#include "support/gradients.h"

namespace addnorm {
namespace {

using test::input;

TEST(Gradients, OfAdd) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{add(in[0], in[1])}; }, input({3, 5}, 1), input({3, 5}, 2));
}

TEST(Gradients, OfMul) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{mul(in[0], in[1])}; }, input({3, 5}, 1), input({3, 5}, 2));
}

}  // namespace
}  // namespace addnorm
