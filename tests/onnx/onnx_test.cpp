// Every case of the ONNX backend node tests in the shared data, run by our code or listed here with the reason why not.
#include <functional>
#include <map>
#include <set>

#include "onnx/attention.h"
#include "onnx/norms.h"
#include "onnx/products.h"
#include "support/data.h"
#include "support/near.h"

namespace addnorm::test::onnx {
namespace {

const std::map<std::string, std::function<Outputs(const Case&)>>& runners() {
  static const std::map<std::string, std::function<Outputs(const Case&)>> all{
      {"Adam", adam},
      {"Attention", attention_by_batch},
      {"BatchNormalization", batch_normalization},
      {"Dropout", dropout_of_nothing},
      {"Gather", gather},
      {"Gelu", gelu_by_name},
      {"Gemm", gemm},
      {"LayerNormalization", layer_normalization},
      {"LogSoftmax", [](const Case& c) { return over_axis(c, [](const Var& x) { return log_softmax(x); }); }},
      {"LpNormalization", lp_normalization},
      {"MatMul", matmul_by_batch},
      {"Momentum", momentum},
      {"RMSNormalization", rms_normalization},
      {"RotaryEmbedding", rotary_embedding},
      {"Sigmoid", [](const Case& c) { return Outputs{sigmoid(c.var(0)).value()}; }},
      {"Softmax", [](const Case& c) { return over_axis(c, [](const Var& x) { return softmax(x); }); }},
      {"SoftmaxCrossEntropyLoss", softmax_cross_entropy},
      {"SwiGLU", [](const Case& c) { return Outputs{swiglu(c.var(0), c.var(1)).value()}; }},
      {"Tanh", [](const Case& c) { return Outputs{tanh(c.var(0)).value()}; }},
  };
  return all;
}

/// Cases that are not run.
const std::map<std::string, std::string>& unsupported() {
  constexpr auto kHalf = "float16 is read from files, not computed with";
  constexpr auto kNoDropout = "outside training there is no dropout op to call";
  constexpr auto kOtherMask = "the mask is that of another random generator";
  constexpr auto kLogProbabilities = "takes numbers that need not be log-probabilities; cross_entropy takes logits";
  constexpr auto kActivation = "not among the activations of Transformers that we have";
  constexpr auto kImageNorm = "a norm of image models; not among ours";
  static const std::map<std::string, std::string> all{
      {"test_adagrad", "there is no Adagrad"},
      {"test_attention_4d_fp16", kHalf},
      {"test_dropout_default", kNoDropout},
      {"test_dropout_default_mask_ratio", kNoDropout},
      {"test_dropout_default_ratio", kNoDropout},
      {"test_elu", kActivation},
      {"test_elu_example", kActivation},
      {"test_group_normalization_example", kImageNorm},
      {"test_instancenorm_epsilon", kImageNorm},
      {"test_l1normalization_axis_1", "only the L2 norm is used as a norm of vectors"},
      {"test_leakyrelu_default", kActivation},
      {"test_mvn", kImageNorm},
      {"test_nllloss_NCd1", kLogProbabilities},
      {"test_nllloss_NCd1_mean_weight_negative_ii", kLogProbabilities},
      {"test_nllloss_NCd1_weight_ii", kLogProbabilities},
      {"test_nllloss_NCd1d2_no_weight_reduction_mean_ii", kLogProbabilities},
      {"test_nllloss_NCd1d2_reduction_sum", kLogProbabilities},
      {"test_nllloss_NCd1d2_with_weight_reduction_mean", kLogProbabilities},
      {"test_nllloss_NCd1d2_with_weight_reduction_sum_ii", kLogProbabilities},
      {"test_nllloss_NCd1d2d3_sum_weight_high_ii", kLogProbabilities},
      {"test_softplus", kActivation},
      {"test_swiglu_float16", kHalf},
      {"test_training_dropout", kOtherMask},
      {"test_training_dropout_default_mask", kOtherMask},
  };
  return all;
}

/// One output of cases that are run otherwise: attention never has a buffer of queries x keys to give away.
bool is_score_matrix(const Case& c, std::size_t slot) { return c.op == "Attention" && slot == 3; }

void expect_outputs(const Case& c, const Outputs& got) {
  for (std::size_t slot = 0; slot < c.outputs.size(); ++slot) {
    if (!c.outputs[slot].has_value() || is_score_matrix(c, slot)) continue;
    ASSERT_LT(slot, got.size()) << "output " << slot << " is not computed";
    EXPECT_NEAR_ALL(got[slot], c.outputs[slot]->tensor(), onnx_tolerance()) << "output " << slot;
  }
}

TEST(Onnx, EveryCaseMatchesOrIsListedAsUnsupported) {
  ADDNORM_NEEDS_DATA("onnx");
  std::size_t ran = 0;
  for (const Case& c : read_cases(test_data() / "onnx")) {
    SCOPED_TRACE(concat(c.name, " (", c.op, ")"));
    if (unsupported().contains(c.name)) continue;
    const auto runner = runners().find(c.op);
    if (runner == runners().end()) {
      ADD_FAILURE() << "neither run nor listed as unsupported";
      continue;
    }
    try {
      expect_outputs(c, runner->second(c));
      ++ran;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();  // and on to the next case
    }
  }
  EXPECT_GE(ran, 100u);
}

TEST(Onnx, TheListOfUnsupportedCasesNamesOnlyCasesThatExistAndSaysWhy) {
  ADDNORM_NEEDS_DATA("onnx");
  std::map<std::string, std::set<std::string>> reasons;
  for (const auto& [name, reason] : unsupported()) {
    EXPECT_TRUE(std::filesystem::exists(test_data() / "onnx" / name)) << name;
    reasons[reason].insert(name);
  }
  for (const auto& [reason, names] : reasons) {
    std::cout << "not run: " << reason << '\n';
    for (const std::string& name : names) std::cout << "  " << name << '\n';
  }
}

}  // namespace
}  // namespace addnorm::test::onnx
