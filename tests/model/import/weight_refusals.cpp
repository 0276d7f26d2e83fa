// Files of weights that are missing, broken or of another format, and the types and values in them: H-08, H-10.
#include <cmath>
#include <cstring>

#include "model/import/refusals.h"
#include "tensor/half.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::expect_refused;
using test::Refused;
using test::Stored;

TEST_F(Refused, PicklesWithAdviceAndFoldersWithoutWeightsOrConfig) {
  fs::path model = golden("gpt2");
  fs::remove(model / "model.safetensors");
  expect_refused(model, {"has no weights"});
  test::write_text(model / "pytorch_model.bin", "PK\x03\x04 and so on");
  expect_refused(model, {"pytorch_model.bin", "pickle", "torch.load", "safetensors.torch.save_file"});
  model = golden("bert");
  fs::remove(model / "config.json");
  expect_refused(model, {"has no config.json"});
  EXPECT_THROW(import_model(folder.path / "nowhere"), DataError);
  for (const char* name : {"weights.pt", "weights.bin", "weights.gguf"})
    test::write_text(folder.path / name, "PK\x03\x04 and more than 28 bytes of it");
  expect_refused(folder.path / "weights.pt", {"weights.pt", "pickle", "torch.load"});
  expect_refused(folder.path / "weights.bin", {"weights.bin", "pickle", "torch.load"});
  expect_refused(folder.path / "weights.gguf", {"weights.gguf", "is no checkpoint that is read"});
  fs::create_directory(folder.path / "empty");
  expect_refused(folder.path / "empty", {"has no weights"});
  folder.write("empty/model-00001-of-00002.safetensors", "");  // shards, but no index
  expect_refused(folder.path / "empty", {"has model-00001-of-00002.safetensors, but neither", "model.safetensors.index.json"});
}

TEST_F(Refused, TruncatedFilesPointersAndOtherFormats) {
  fs::path model = golden("llama");
  fs::resize_file(model / "model-00002-of-00003.safetensors", fs::file_size(model / "model-00002-of-00003.safetensors") - 100);
  expect_refused(model, {"model-00002-of-00003.safetensors"});
  model = golden("gpt2");
  const fs::path weights = model / "model.safetensors";
  const std::string whole = test::text_of(weights);
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{100}, whole.size() - 1}) {
    test::write_text(weights, whole.substr(0, size));
    expect_refused(model, {"model.safetensors"});
  }
  test::write_text(weights, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n");
  expect_refused(model, {"Git LFS pointer"});
  fs::remove(weights);
  fs::create_directory(weights);
  expect_refused(model, {"model.safetensors"});
}

TEST_F(Refused, WeightsUnderAnotherNameThatStandBesideOnesThatWouldBeRead) {
  const fs::path model = golden("gpt2");
  fs::copy_file(model / "model.safetensors", model / "tuned.safetensors");
  expect_refused(model / "tuned.safetensors", {"tuned.safetensors", "model.safetensors"});
  EXPECT_EQ(import_model(model / "model.safetensors").family, "gpt2");
}

TEST_F(Refused, ValuesThatAreNotFiniteAndTypesThatAreNotRead) {
  fs::path model = golden("gpt2");
  test::change_weights(model, [](Stored& all) {
    const float bad = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(all.at("transformer.h.1.mlp.c_fc.weight").bytes.data() + 40, &bad, sizeof bad);
  });
  expect_refused(model, {"transformer.h.1.mlp.c_fc.weight", "NaN or infinite"});
  EXPECT_NO_THROW(import_model(model, {.allow_nonfinite = true}));
  model = golden("gpt2");
  test::change_weights(model, [](Stored& all) { all.at("transformer.ln_f.weight").dtype = "I32"; });
  expect_refused(model, {"transformer.ln_f.weight is I32"});
}

// H-08: types may be mixed; 16-bit values are exact, subnormals included, and come back as they were.
TEST_F(Refused, NothingOfMixedTypes) {
  const fs::path model = golden("gpt2");
  const auto as_halves = [](test::StoredTensor& tensor, const char* dtype) {
    std::vector<float> values(tensor.shape.elements());
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    values[0] = 0x1p-24f;  // subnormal in F16
    values[1] = -0.0f;
    std::vector<std::uint16_t> halves(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      halves[i] = std::string_view(dtype) == "F16" ? to_f16(values[i]) : to_bf16(values[i]);
    tensor.dtype = dtype;
    tensor.bytes.resize(halves.size() * 2);
    std::memcpy(tensor.bytes.data(), halves.data(), tensor.bytes.size());
  };
  test::change_weights(model, [&](Stored& all) {
    as_halves(all.at("transformer.wte.weight"), "F16");
    as_halves(all.at("transformer.h.0.attn.c_attn.weight"), "BF16");
    as_halves(all.at("transformer.h.1.ln_1.bias"), "F16");
    all["transformer.h.0.attn.bias"] = {"BOOL", Shape{1, 1, 4}, std::vector<std::byte>(4, std::byte{1})};
    all["transformer.h.0.attn.masked_bias"] = {"F64", Shape{}, std::vector<std::byte>(8)};
  });
  const ImportedModel imported = import_model(model);
  for_each_parameter(*imported.model, [](Parameter& p) {
    if (p.path == "tokens.embedding.weight") {
      EXPECT_EQ(p.value.value().data<float>()[0], 0x1p-24f);
      EXPECT_TRUE(std::signbit(p.value.value().data<float>()[1]));
    }
  });
  export_model(imported, folder.path / "out");
  EXPECT_TRUE(test::stored(folder.path / "out" / "model.safetensors") == test::stored(model / "model.safetensors"));
  test::change_weights(model, [&](Stored& all) {
    const std::uint16_t infinite = 0x7c00;
    std::memcpy(all.at("transformer.wte.weight").bytes.data(), &infinite, sizeof infinite);
  });
  expect_refused(model, {"transformer.wte.weight", "NaN or infinite"});
}

TEST_F(Refused, AnExportOfPackedWeights) {
  const ImportedModel imported = import_model(golden("bert"));
  pack_weights(*imported.model);
  EXPECT_THROW(export_model(imported, folder.path / "out"), UsageError);
  EXPECT_FALSE(fs::exists(folder.path / "out"));
}

}  // namespace
}  // namespace addnorm
