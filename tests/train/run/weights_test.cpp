// Weights for other programs: what is saved makes the same model again, and what does not fit is refused by name.
#include "addnorm/train/weights.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "addnorm/tensor/safetensors.h"
#include "core/file.h"
#include "support/folder.h"
#include "support/streams/small_models.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::AnyModel;
using test::small;
using test::text_of;
using test::throws_saying;
using test::write_text;

constexpr ModelKind kKinds[] = {ModelKind::lm, ModelKind::encoder, ModelKind::seq2seq, ModelKind::classifier, ModelKind::mlp};

std::map<std::string, Tensor> tensors_of(Model& model) {
  std::map<std::string, Tensor> all;
  for_each_parameter(model, [&](Parameter& p) { all[p.path] = p.value.value(); });
  for_each_buffer(model, [&](const std::string& path, Tensor& value) { all[path] = value; });
  return all;
}

void expect_same_tensors(Model& got, Model& want) {
  const auto a = tensors_of(got), b = tensors_of(want);
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [path, value] : b) EXPECT_SAME_BITS(a.at(path).values<float>(), value.values<float>()) << path;
}

class Weights : public testing::Test {
 protected:
  /// The saved file again, with one thing changed.
  void rewrite(const std::function<void(std::map<std::string, Tensor>&)>& change) const {
    std::map<std::string, Tensor> all;
    const SafetensorsReader reader(weights);
    for (std::size_t i = 0; i < reader.size(); ++i) all[std::string(reader.name(i))] = reader.read(reader.name(i));
    change(all);
    SafetensorsWriter writer;
    for (const auto& [name, tensor] : all) writer.add(name, tensor);
    writer.save(weights);
  }
  auto loading(const LoadOptions& options = {}) const {
    return [this, options] { load_model(folder.path, options); };
  }

  test::TemporaryFolder folder;
  fs::path weights = folder.path / "model.safetensors", config = folder.path / "config.json";
};

TEST_F(Weights, OfEveryKindMakeTheSameModelAgain) {
  for (const ModelKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    ModelConfig shape = small(kind, "rezero");
    shape.tied = kind == ModelKind::lm;
    AnyModel model(shape);
    model.model->initialise(9);
    save_model(folder.path, *model.model);
    const std::unique_ptr<Model> back = load_model(folder.path);
    EXPECT_EQ(to_json(back->config()), to_json(model.model->config()));
    expect_same_tensors(*back, *model.model);
  }
}

TEST_F(Weights, OfEveryArrangementComeBackWithTheirBuffers) {
  for (const char* arrangement : {"post-ln", "deepnorm", "resi-dual", "admin", "mix-ln", "denseformer"}) {
    SCOPED_TRACE(arrangement);
    ModelConfig shape = small(ModelKind::lm, arrangement);
    shape.norm = arrangement == std::string("post-ln") ? "batchnorm" : "layernorm";
    AnyModel model(shape);
    std::size_t i = 0;
    for (const auto& [path, value] : tensors_of(*model.model)) {  // no value as in a new model
      Tensor shared = value;
      std::ranges::copy(test::normal_values(value.elements(), ++i), shared.values<float>().begin());
    }
    save_model(folder.path, *model.model);
    expect_same_tensors(*load_model(folder.path), *model.model);
  }
}

TEST_F(Weights, ConfigHasEveryFieldAndRoomForOthers) {
  AnyModel model(small(ModelKind::lm));
  save_model(folder.path, *model.model, R"({"data": {"file": "a.txt", "layers": 3}, "vocab": "other"})");
  const std::string text = text_of(config);
  for (const char* part : {"\"model_type\": \"addnorm\"", "\"model\": \"lm\"", "\"seq_len\": 8", "\"arrangement\": \"pre-ln\"",
                           "\"dropout\": 0.0", "\"extra\": {", "\"a.txt\""})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  EXPECT_EQ(to_json(read_model_config(config)), to_json(model.model->config()));
  EXPECT_EQ(config_file_extra(config), R"({"data":{"file":"a.txt","layers":3},"vocab":"other"})");
  EXPECT_NO_THROW(load_model(folder.path));
  EXPECT_TRUE(throws_saying<UsageError>([&] { save_model(folder.path, *model.model, "[1]"); }, {"extra", "array"}));
  EXPECT_TRUE(throws_saying<DataError>([&] { model_config_from_json(R"({"model_type": "gpt2"})", "c"); },
                                       {"model_type", "gpt2", "addnorm"}));
  EXPECT_TRUE(throws_saying<DataError>([&] { model_config_from_json(R"({"extra": 1})", "c"); }, {"extra", "object"}));
  save_model(folder.path, *model.model);
  EXPECT_EQ(config_file_extra(config), "{}");
}

TEST_F(Weights, WithTensorsMissingOrTooManyAreRefusedByName) {
  AnyModel model(small(ModelKind::lm));
  save_model(folder.path, *model.model);
  rewrite([](auto& all) { all.erase("layers.1.ffn.in.weight"); });
  EXPECT_TRUE(throws_saying<DataError>(loading(), {weights.string(), "lacks 1", "layers.1.ffn.in.weight"}));
  save_model(folder.path, *model.model);
  rewrite([](auto& all) { all["layers.9.extra"] = Tensor::zeros({1}); });
  EXPECT_TRUE(throws_saying<DataError>(loading(), {"has 1", "layers.9.extra", "no place"}));
  rewrite([](auto& all) {
    for (int i = 0; i < 20; ++i) all[concat("other.", i)] = Tensor::zeros({1});
  });
  EXPECT_TRUE(throws_saying<DataError>(loading(), {"has 21", "and 15 more"}));
}

TEST_F(Weights, OfAnotherShapeAreRefusedWithBothShapes) {
  AnyModel model(small(ModelKind::lm));
  save_model(folder.path, *model.model);
  rewrite([](auto& all) { all.at("layers.0.ffn.in.weight") = Tensor::zeros({12, 20}); });
  EXPECT_TRUE(throws_saying<DataError>(loading(), {"layers.0.ffn.in.weight", "[12, 20]", "[20, 12]"}));
  save_model(folder.path, *model.model);
  rewrite([](auto& all) { all.at("layers.0.ffn.in.weight") = all.at("layers.0.ffn.in.weight").to(DType::f64); });
  EXPECT_TRUE(throws_saying<DataError>(loading(), {"layers.0.ffn.in.weight", "F64", "F32"}));
}

TEST_F(Weights, ST41WithNanAreCountedAndRefusedUnlessAllowed) {
  AnyModel model(small(ModelKind::lm));
  tensors_of(*model.model).at("layers.1.ffn.out.bias").data<float>()[2] = std::numeric_limits<float>::quiet_NaN();
  tensors_of(*model.model).at("layers.1.ffn.out.bias").data<float>()[3] = std::numeric_limits<float>::infinity();
  save_model(folder.path, *model.model);
  EXPECT_TRUE(
      throws_saying<DataError>(loading(), {"layers.1.ffn.out.bias", "1 NaN", "1 infinite", "saved earlier", "allow_nonfinite"}));
  EXPECT_NO_THROW(loading({.allow_nonfinite = true})());
}

TEST_F(Weights, ThatWereDamagedAreRefused) {
  AnyModel model(small(ModelKind::lm));
  save_model(folder.path, *model.model);
  test::flip_bit(weights, 8 * fs::file_size(weights) - 24);
  EXPECT_TRUE(throws_saying<DataError>(loading(), {weights.string(), "checksum", "damaged"}));
}

TEST_F(Weights, ThatDoNotFitLeaveTheModelAsItWas) {
  AnyModel model(small(ModelKind::lm)), other(small(ModelKind::lm));
  other.model->initialise(77);
  save_model(folder.path, *other.model);
  rewrite([](auto& all) { all.rbegin()->second = Tensor::zeros({3}); });
  const auto before = model().value().clone();
  EXPECT_THROW(load_weights(weights, *model.model), DataError);
  EXPECT_SAME_BITS(model().value().values<float>(), before.values<float>());
}

TEST_F(Weights, WithAFileMissingOrAConfigThatMakesNoModelNameTheFile) {
  EXPECT_TRUE(throws_saying<DataError>(loading(), {config.string()}));
  AnyModel model(small(ModelKind::lm));
  save_model(folder.path, *model.model);
  fs::remove(weights);
  EXPECT_TRUE(throws_saying<DataError>(loading(), {weights.string()}));
  save_model(folder.path, *model.model);
  write_text(config, R"({"vocab": 11, "heads": 5, "d_model": 12})");
  EXPECT_TRUE(throws_saying<DataError>(loading(), {config.string(), "heads", "5"}));
}

TEST_F(Weights, OfAConfigFarLargerThanTheFileAreRefusedBeforeAnythingIsMade) {
  AnyModel model(small(ModelKind::lm));
  save_model(folder.path, *model.model);
  for (const char* huge : {R"({"vocab": 2000000000, "d_model": 4096})", R"({"vocab": 11, "layers": 10000, "d_model": 16384})",
                           R"({"vocab": 11, "seq_len": 2000000000, "d_model": 1024})",
                           R"({"vocab": 11, "seq_len": 2000000000, "d_model": 1024, "positions": "sinusoidal"})",
                           R"({"model": "mlp", "features": 2000000, "classes": 900000, "d_model": 16384})"}) {
    write_text(config, huge);
    EXPECT_TRUE(throws_saying<DataError>(loading(), {config.string()})) << huge;
  }
}

// The reference implementation opens what a run leaves: names, types, shapes and every bit.
TEST_F(Weights, OfEveryKindOpenInThePythonLibrary) {
  const char* python = std::getenv("ADDNORM_PEERS_PYTHON");
  if (python == nullptr) GTEST_SKIP() << "skipped: run scripts/peers";
  const fs::path script = folder.path / "dump.py", dump = folder.path / "dump";
  write_text(script,
             "import sys\n"
             "from safetensors import safe_open\n"
             "with safe_open(sys.argv[1], framework='np') as f, open(sys.argv[2], 'wb') as out:\n"
             "  assert f.metadata()['format'] == 'pt', f.metadata()\n"
             "  for name in sorted(f.keys()):\n"
             "    tensor = f.get_tensor(name)\n"
             "    shape = ', '.join(str(n) for n in tensor.shape)\n"
             "    out.write(f'{name} {tensor.dtype} [{shape}]\\n'.encode())\n"
             "    out.write(tensor.tobytes())\n");
  for (const ModelKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    const AnyModel any(small(kind));
    save_model(folder.path, *any.model);
    const std::string command = concat("'", python, "' '", script.native(), "' '", weights.native(), "' '", dump.native(), "'");
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    std::string want;
    for (const auto& [path, value] : tensors_of(*any.model)) {
      want += concat(path, " float32 ", value.shape().text(), "\n");
      want.append(reinterpret_cast<const char*>(value.data<float>()), value.elements() * sizeof(float));
    }
    EXPECT_TRUE(text_of(dump) == want);
  }
}

}  // namespace
}  // namespace addnorm
