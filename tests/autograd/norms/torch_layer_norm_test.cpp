// layer_norm against the PyTorch references of the shared data (float64, inputs are float32 numbers): forward and gradients.
#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/safetensors.h"
#include "support/data.h"
#include "support/near.h"

namespace addnorm {
namespace {

/// x and grad_out as rows of what is normalised, which may be several axes.
TEST(TorchLayerNorm, MatchesForwardAndEveryGradient) {
  ADDNORM_NEEDS_DATA("torch");
  std::size_t files = 0;
  for (const char* name : {"basic", "constant_row", "no_affine", "shifted", "two_axes"}) {
    SCOPED_TRACE(name);
    const SafetensorsReader file(test::test_data() / "torch" / concat("layernorm_", name, ".safetensors"));
    const Tensor wide = file.read("in.x");
    const bool affine = file.contains("param.weight");
    const std::size_t width = affine ? file.info("param.weight").shape.elements() : wide.shape().back();
    const Shape rows{wide.elements() / width, width};
    const auto leaf = [&](const char* tensor) { return Var(file.read(tensor).to(DType::f32).reshape({width}), true); };

    const Var x(wide.to(DType::f32).reshape(rows), true);
    const Var gamma = affine ? leaf("param.weight") : Var(), beta = affine ? leaf("param.bias") : Var();
    const float eps = std::stof(file.metadata("eps").value());
    const Var y = layer_norm(x, gamma, beta, {.eps = eps});
    backward(y, file.read("grad_out").to(DType::f32).reshape(rows));

    const auto expect = [&](const Tensor& got, const char* tensor) {
      const Tensor want = file.read(tensor);
      EXPECT_NEAR_ALL(got.reshape(want.shape()), want, test::whole_tensor_tolerance(want)) << tensor;
    };
    expect(y.value(), "out");
    expect(x.grad(), "grad.in.x");
    if (affine) expect(gamma.grad(), "grad.param.weight");
    if (affine) expect(beta.grad(), "grad.param.bias");
    ++files;
  }
  EXPECT_EQ(files, 5u);
}

}  // namespace
}  // namespace addnorm
