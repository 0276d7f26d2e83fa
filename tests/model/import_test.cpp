// Checkpoints of every family that transformers made: what they compute here, and how they come back.
#include "addnorm/model/import.h"

#include <gtest/gtest.h>

#include "addnorm/autograd/tape.h"
#include "addnorm/model/encoder.h"
#include "addnorm/model/language_model.h"
#include "addnorm/tensor/safetensors.h"
#include "support/folder.h"
#include "support/import_files.h"
#include "support/near.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::import_golden;
using Ids = std::vector<std::int32_t>;

/// Weights of size 1 through two layers in float32, against float64.
constexpr test::Tolerance logits_tolerance() { return {1e-5, 0}; }

Ids narrow(const std::vector<std::int64_t>& wide) { return {wide.begin(), wide.end()}; }

struct Expected {
  explicit Expected(const std::string& name) : file(import_golden(name) / "golden.safetensors") {
    ids = narrow(file.read_i64("ids"));
    for (const std::int64_t length : file.read_i64("lengths")) lengths.push_back(static_cast<std::size_t>(length));
    if (file.contains("types")) types = narrow(file.read_i64("types"));
    want = file.read(file.contains("logits") ? "logits" : "vectors");
  }
  Tokens tokens() const { return {.ids = ids, .batch = lengths.size(), .lengths = lengths, .types = types}; }

  SafetensorsReader file;
  Ids ids, types;
  std::vector<std::size_t> lengths;
  Tensor want;
};

Tensor computed(Model& model, const Tokens& tokens) {
  const NoGrad no_grad;
  if (const auto* lm = dynamic_cast<const LanguageModel*>(&model)) return (*lm)(tokens).value();
  const auto& encoder = dynamic_cast<const Encoder&>(model);
  return (model.config().head ? encoder.logits(tokens) : encoder(tokens)).value();
}

/// Without what stands behind the end of a sequence.
void expect_near(const Tensor& got, const Expected& e) {
  ASSERT_EQ(got.shape(), e.want.shape());
  const std::size_t tokens = got.shape()[1], width = got.shape()[2];
  const Tensor want = e.want.to(DType::f32);
  for (std::size_t b = 0; b < e.lengths.size(); ++b) {
    const auto part = [&](const Tensor& all) {
      return Tensor::of({e.lengths[b], width}, all.values<float>().subspan(b * tokens * width, e.lengths[b] * width));
    };
    EXPECT_NEAR_ALL(part(got), part(want), logits_tolerance()) << "sequence " << b;
  }
}

class ImportGolden : public testing::TestWithParam<const char*> {};

TEST_P(ImportGolden, ComputesWhatTransformersComputes) {
  const ImportedModel imported = import_model(import_golden(GetParam()));
  const Expected expected(GetParam());
  expect_near(computed(*imported.model, expected.tokens()), expected);
}

TEST_P(ImportGolden, ComesBackUnderTheSameNamesBitForBit) {
  const ImportedModel imported = import_model(import_golden(GetParam()));
  const test::TemporaryFolder folder;
  export_model(imported, folder.path / "out");
  test::expect_same_files(import_golden(GetParam()), folder.path / "out");
  const Expected expected(GetParam());
  expect_near(computed(*import_model(folder.path / "out").model, expected.tokens()), expected);
}

INSTANTIATE_TEST_SUITE_P(Families, ImportGolden,
                         testing::Values("gpt2", "gpt2-untied", "bert-masked", "bert", "roberta-masked", "distilbert-masked",
                                         "llama", "llama-tied-biased", "opt", "opt-post"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Import, SaysWhatFamilyItIsAndWhatIsNotComputed) {
  const ImportedModel bert = import_model(import_golden("bert"));
  EXPECT_EQ(bert.family, "bert");
  EXPECT_EQ(bert.model->config().arrangement, "post-ln");
  EXPECT_TRUE(test::mentions(bert.notes, "the pooler"));
  EXPECT_EQ(import_model(import_golden("opt")).model->config().arrangement, "pre-ln");
  EXPECT_EQ(import_model(import_golden("opt-post")).model->config().arrangement, "post-ln");
}

}  // namespace
}  // namespace addnorm
