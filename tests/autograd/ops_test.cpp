// Gradient checks in double of every op and every input, through the same Var and tape that training uses.
#include "addnorm/autograd/ops.h"

#include "addnorm/autograd/gradcheck.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::normal_tensor;

#define EXPECT_GRADIENTS(fn, ...)                                                \
  do {                                                                           \
    const GradcheckResult result = gradcheck((fn), std::vector<Tensor>{__VA_ARGS__}); \
    EXPECT_TRUE(result.ok) << result.message;                                    \
  } while (0)

Tensor input(const Shape& shape, std::uint64_t seed) { return normal_tensor(shape, seed, DType::f64); }

TEST(Gradients, OfAdd) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{add(in[0], in[1])}; }, input({3, 5}, 1), input({3, 5}, 2));
}

TEST(Gradients, OfMul) {
  EXPECT_GRADIENTS([](const auto& in) { return std::vector{mul(in[0], in[1])}; }, input({3, 5}, 1), input({3, 5}, 2));
}

}  // namespace
}  // namespace addnorm
