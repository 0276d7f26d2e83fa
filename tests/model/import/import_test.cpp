// Checkpoints of every family that transformers made: what they compute here, and how they come back.
#include "addnorm/model/import.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "addnorm/autograd/tape.h"
#include "addnorm/model/encoder.h"
#include "addnorm/model/language_model.h"
#include "addnorm/tensor/safetensors.h"
#include "support/folder.h"
#include "support/models/import_files.h"
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

/// Without what stands after the end of a sequence.
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
                                         "llama", "llama-tied-biased", "opt", "opt-post", "opt-projected", "bert-decoder",
                                         "mistral", "qwen2", "qwen3", "olmo2"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

/// A golden under other names: it computes the same, and comes back under the names it had.
void expect_same_under(const std::string& golden, const std::function<void(test::Stored&)>& change) {
  SCOPED_TRACE(golden);
  const test::TemporaryFolder folder;
  const fs::path model = test::copy_of_golden(golden, folder.path / "in");
  test::change_weights(model, change);
  const ImportedModel imported = import_model(model);
  const Expected expected(golden);
  expect_near(computed(*imported.model, expected.tokens()), expected);
  export_model(imported, folder.path / "out");
  test::expect_same_files(model, folder.path / "out");
}

/// A part of the names replaced in all that have it. That none has it is a failure, and so are two tensors of one name.
std::function<void(test::Stored&)> replacing(const std::string& from, const std::string& to) {
  return [=](test::Stored& all) {
    test::Stored renamed;
    std::size_t changed = 0;
    for (auto& [name, tensor] : all) {
      std::string other = name;
      if (const std::size_t at = other.find(from); at != std::string::npos) {
        other.replace(at, from.size(), to);
        ++changed;
      }
      EXPECT_TRUE(renamed.emplace(other, std::move(tensor)).second) << other << " is there twice";
    }
    EXPECT_GT(changed, 0u) << "no tensor has '" << from << "' in its name";
    all = std::move(renamed);
  };
}

TEST(Import, PrefixesMayBeThereOrNot) {
  expect_same_under("gpt2", replacing("transformer.", ""));
  expect_same_under("bert-masked", replacing("bert.", ""));
  expect_same_under("roberta-masked", replacing("roberta.", ""));
  expect_same_under("distilbert-masked", replacing("distilbert.", ""));
  expect_same_under("mistral", replacing("model.", ""));
  expect_same_under("opt", replacing("model.decoder.", "decoder."));
  expect_same_under("bert", [](test::Stored& all) {
    test::Stored renamed;
    for (auto& [name, tensor] : all) renamed["bert." + name] = std::move(tensor);
    all = std::move(renamed);
  });
}

TEST(Import, NormsMayHaveTheirOldNames) {
  expect_same_under("bert-masked", [](test::Stored& all) {
    replacing("LayerNorm.weight", "LayerNorm.gamma")(all);
    replacing("LayerNorm.bias", "LayerNorm.beta")(all);
  });
}

TEST(Import, BuffersAndCopiesAreKnownAndComeBack) {
  const test::StoredTensor ids{"I64", Shape{1, 2}, std::vector<std::byte>(16)};
  const test::StoredTensor mask{"U8", Shape{1, 1, 2, 2}, std::vector<std::byte>(4)};
  expect_same_under("gpt2", [&](test::Stored& all) {
    all["transformer.h.0.attn.bias"] = all["transformer.h.1.attn.bias"] = mask;
    all["transformer.h.1.attn.masked_bias"] = {"F32", Shape{}, std::vector<std::byte>(4)};
    all["lm_head.weight"] = all.at("transformer.wte.weight");
  });
  expect_same_under("bert-masked", [&](test::Stored& all) {
    all["bert.embeddings.position_ids"] = ids;
    all["cls.predictions.decoder.weight"] = all.at("bert.embeddings.word_embeddings.weight");
    all["cls.predictions.decoder.bias"] = all.at("cls.predictions.bias");
    all["cls.seq_relationship.weight"] = {"F32", Shape{2, 16}, std::vector<std::byte>(128)};
    all["cls.seq_relationship.bias"] = {"F32", Shape{2}, std::vector<std::byte>(8)};
  });
  expect_same_under("mistral", [&](test::Stored& all) {
    all["model.layers.0.self_attn.rotary_emb.inv_freq"] = {"F32", Shape{2}, std::vector<std::byte>(8)};
  });
}

TEST(Import, WhatWasTrainedIsExported) {
  const test::TemporaryFolder folder;
  const ImportedModel imported = import_model(import_golden("gpt2"));
  for_each_parameter(*imported.model, [](Parameter& p) {
    for (float& v : p.value.value().values<float>()) v += 0.25f;
  });
  export_model(imported, folder.path);
  const ImportedModel again = import_model(folder.path);
  std::map<std::string, Tensor> want;
  for_each_parameter(*imported.model, [&](Parameter& p) { want[p.path] = p.value.value(); });
  for_each_parameter(*again.model,
                     [&](Parameter& p) { EXPECT_NEAR_ALL(p.value.value(), want.at(p.path), test::exact()) << p.path; });
}

TEST(Import, MayBeExportedIntoTheFolderItCameFrom) {
  const test::TemporaryFolder folder;
  const fs::path model = test::copy_of_golden("bert", folder.path / "model");
  export_model(import_model(model), model);
  test::expect_same_files(import_golden("bert"), model);
}

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
