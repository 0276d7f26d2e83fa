// Whole layers and stacks against PyTorch in float64 from the same float32 numbers: forward and every gradient.
#include "addnorm/autograd/tape.h"
#include "addnorm/model/stack.h"
#include "support/data.h"
#include "support/models/torch_case.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::TorchCase;

/// nn.TransformerEncoderLayer or, with a memory, nn.TransformerDecoderLayer, as often as there are layers.
Stack stack_like(const TorchCase& c) {
  const bool decoder = c.contains("in.memory"), one = c.contains("param.linear1.weight");
  const ModelConfig config{.model = decoder ? ModelKind::seq2seq : ModelKind::lm,
                           .vocab = 1,
                           .layers = c.layers(),
                           .d_model = c.shape("in.x").back(),
                           .heads = c.heads(),
                           .d_ff = c.shape(one ? "param.linear1.weight" : "param.layers.0.linear1.weight")[0],
                           .arrangement = c.norm_first() ? "pre-ln" : "post-ln",
                           .final_norm = c.contains("param.norm.weight"),
                           .activation = c.gelu() ? Activation::gelu : Activation::relu};
  const StackKind alone = c.causal() ? StackKind::decoder_only : StackKind::encoder_only;
  return Stack(completed(config), decoder ? StackKind::decoder : alone);
}

/// Where a parameter of ours lies in PyTorch's: from row `first` of tensor `name` on.
struct TorchRows {
  std::string name;
  std::size_t first;
};

TorchRows torch_rows(const Parameter& p, const TorchCase& c) {
  const bool decoder = c.contains("in.memory"), stack = c.contains("param.layers.0.linear1.weight");
  const std::string last = p.path.substr(p.path.rfind('.') + 1);  // weight or bias
  if (!p.place.layer) return {"norm." + last, 0};                 // the final one
  const std::string layer = stack ? concat("layers.", *p.place.layer, ".") : "";
  if (p.role == Role::norm_gain || p.role == Role::norm_bias) {
    const std::size_t in_decoder = static_cast<std::size_t>(*p.place.sub_layer) + 1;
    return {concat(layer, "norm", *p.place.sub_layer == SubLayer::ffn && !decoder ? 2 : in_decoder, ".", last), 0};
  }
  const auto is = [&](const char* part) { return p.path.find(part) != std::string::npos; };
  if (is("ffn.")) return {concat(layer, is("ffn.in.") ? "linear1." : "linear2.", last), 0};
  const std::string attention = layer + (is("self.") ? "self_attn." : "multihead_attn.");
  if (is(".out.")) return {attention + "out_proj." + last, 0};
  return {attention + "in_proj_" + last, is(".kv.") ? c.shape("in.x").back() : 0};
}

/// Rows of a tensor, as many as `like` has.
Tensor rows_like(const Shape& like, const Tensor& x, std::size_t first) {
  const std::size_t per_row = like.elements() / like[0];
  return dispatch(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return Tensor::of(like, x.values<T>().subspan(first * per_row, like.elements()));
  });
}

void expect_like_torch(const TorchCase& c) {
  SCOPED_TRACE(c.name());
  Stack stack = stack_like(c);
  ASSERT_EQ(count_parameters(stack), c.parameters());
  for_each_parameter(stack, [&](Parameter& p) {
    const TorchRows at = torch_rows(p, c);
    p.value.value() = rows_like(p.value.shape(), c.input("param." + at.name), at.first);
  });
  const Var x(c.input("in.x"), true);
  const Var memory = c.contains("in.memory") ? Var(c.input("in.memory"), true) : Var();
  StackInput input{.memory = memory};
  (memory.defined() ? input.memory_lengths : input.lengths) = c.key_lengths();
  const Var y = stack(x, input, {});
  backward(y, c.input("grad_out"));

  const auto expect = [&](const Tensor& got, const std::string& name, std::size_t first = 0) {
    const Tensor want = c.read(name);
    EXPECT_NEAR_ALL(got, rows_like(got.shape(), want, first), test::whole_tensor_tolerance(want)) << name;
  };
  expect(y.value(), "out");
  expect(x.grad(), "grad.in.x");
  if (memory.defined()) expect(memory.grad(), "grad.in.memory");
  for_each_parameter(stack, [&](Parameter& p) {
    const TorchRows at = torch_rows(p, c);
    ASSERT_TRUE(p.value.grad().defined()) << p.path;
    expect(p.value.grad(), "grad.param." + at.name, at.first);
  });
}

std::filesystem::path goldens() { return std::filesystem::path(ADDNORM_SOURCE_DIR) / "tests" / "golden" / "layers.safetensors"; }

void expect_files_like_torch(const char* beginning, std::size_t at_least) {
  const std::vector<TorchCase> files = test::torch_files(test::test_data() / "torch", beginning);
  EXPECT_GE(files.size(), at_least);
  for (const TorchCase& c : files) expect_like_torch(c);
}

void expect_goldens_like_torch(const char* beginning, std::size_t exactly) {
  const std::vector<TorchCase> cases = test::torch_cases(goldens(), beginning);
  EXPECT_EQ(cases.size(), exactly);
  for (const TorchCase& c : cases) expect_like_torch(c);
}

TEST(TorchLayers, EncoderLayerHasItsValuesAndAllGradients) {
  ADDNORM_NEEDS_DATA("torch");
  expect_files_like_torch("encoder_layer_", 5);
}
TEST(TorchLayers, DecoderLayerHasItsValuesAndAllGradients) {
  ADDNORM_NEEDS_DATA("torch");
  expect_files_like_torch("decoder_layer_", 2);
}
TEST(TorchLayers, EncoderStackHasItsValuesAndAllGradients) {
  ADDNORM_NEEDS_DATA("torch");
  expect_files_like_torch("encoder_stack_", 2);
}

TEST(TorchLayers, OddWidthsOneTokenAndLongPaddingInAnEncoderLayer) { expect_goldens_like_torch("encoder-layer-", 6); }
TEST(TorchLayers, OddWidthsOneTokenAndLongPaddingInADecoderLayer) { expect_goldens_like_torch("decoder-layer-", 6); }
TEST(TorchLayers, TwelveLayers) { expect_goldens_like_torch("encoder-stack-", 2); }

}  // namespace
}  // namespace addnorm
