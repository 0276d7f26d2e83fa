// What is not imported, and how it is told: reliability cases H-01 to H-10, and tensors that have no place.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "addnorm/model/import.h"
#include "support/folder.h"
#include "support/import_files.h"
#include "tensor/half.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::copy_of_golden;
using test::replace_in;
using test::Stored;

/// One line that names the file or folder and says all of these.
void expect_refused(const fs::path& path, const std::vector<std::string>& parts, const ImportOptions& options = {}) {
  try {
    import_model(path, options);
    ADD_FAILURE() << path << " was imported";
  } catch (const DataError& error) {
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with((fs::is_directory(path) ? path : path.parent_path()).string())) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    for (const std::string& part : parts) EXPECT_NE(what.find(part), std::string::npos) << part << " is not in: " << what;
  }
}

class Refused : public testing::Test {
 protected:
  fs::path golden(const std::string& name) {
    const fs::path to = folder.path / std::to_string(count++);
    return copy_of_golden(name, to);
  }
  test::TemporaryFolder folder;
  int count = 0;
};

constexpr const char* kIndex = "model.safetensors.index.json";

TEST_F(Refused, NamesOfShardsThatLeadOutOfTheFolder) {
  for (const std::string name : {"../x", "/etc/passwd", "a/b", "..\\\\x", "", "..", ".", "a\\u0000b"}) {
    const fs::path model = golden("llama");
    replace_in(model / kIndex, "\"model-00001-of-00003.safetensors\"", "\"" + name + "\"");
    expect_refused(model, {kIndex, "weight_map gives", "plain name"});
  }
  const fs::path model = golden("llama");
  replace_in(model / kIndex, "\"model-00001-of-00003.safetensors\"", "\"" + std::string(10000, 'a') + "\"");
  expect_refused(model, {kIndex, "plain name"});
}

TEST_F(Refused, ShardsThatAreMissingOrTooManyOrDoNotHaveWhatTheIndexSays) {
  fs::path model = golden("llama");
  fs::remove(model / "model-00002-of-00003.safetensors");
  expect_refused(model, {kIndex, "model-00002-of-00003.safetensors", "not there"});

  model = golden("llama");
  fs::copy_file(model / "model-00002-of-00003.safetensors", model / "model-00004-of-00004.safetensors");
  expect_refused(model, {"does not name model-00004-of-00004.safetensors"});

  model = golden("llama");  // the same tensors in two shards
  fs::copy_file(model / "model-00002-of-00003.safetensors", model / "model-00001-of-00003.safetensors",
                fs::copy_options::overwrite_existing);
  expect_refused(model, {"model-00002-of-00003.safetensors: tensor ", "too; a tensor belongs in one file"});

  model = golden("llama");  // in the index, not in a shard
  replace_in(model / kIndex, "\"model.norm.weight\"", "\"model.other.weight\"");
  expect_refused(model, {"model.other.weight", "does not have it"});

  model = golden("llama");  // listed twice
  replace_in(model / kIndex, "\"model.norm.weight\"", "\"lm_head.weight\"");
  expect_refused(model, {"lm_head.weight", "twice"});

  model = golden("llama");  // in the other shard
  replace_in(model / kIndex, "\"lm_head.weight\": \"model-00003-of-00003.safetensors\"",
             "\"lm_head.weight\": \"model-00002-of-00003.safetensors\"");
  expect_refused(model, {"lm_head.weight is to be in model-00002-of-00003.safetensors, but it is in model-00003"});
}

TEST_F(Refused, ATensorThatTheIndexDoesNotName) {
  const fs::path model = golden("llama");
  Stored shard = test::stored(model / "model-00003-of-00003.safetensors");
  shard["more"] = shard.begin()->second;
  test::store(model / "model-00003-of-00003.safetensors", shard);
  expect_refused(model, {"model-00003-of-00003.safetensors: has the tensor more, which", kIndex});
}

TEST_F(Refused, ShardsThatAreLinksOutOfTheFolderButNotThoseOfTheHubsCache) {
  const char* shard = "model-00002-of-00003.safetensors";
  fs::path model = golden("llama");
  fs::rename(model / shard, folder.path / "elsewhere");
  fs::create_symlink(folder.path / "elsewhere", model / shard);
  expect_refused(model, {kIndex, shard, "a link to", "outside of the folder"});

  // huggingface_hub: models--NAME/snapshots/COMMIT holds links to models--NAME/blobs.
  const fs::path hub = folder.path / "models--tiny";
  fs::create_directories(hub / "blobs");
  fs::create_directories(hub / "snapshots");
  copy_of_golden("llama", hub / "snapshots" / "0123");
  for (const char* name : {shard, "config.json", kIndex}) {
    fs::rename(hub / "snapshots" / "0123" / name, hub / "blobs" / name);
    fs::create_symlink(fs::path("../../blobs") / name, hub / "snapshots" / "0123" / name);
  }
  EXPECT_EQ(import_model(hub / "snapshots" / "0123").family, "llama");

  // A link that the user names is followed.
  model = golden("gpt2");
  fs::rename(model / "model.safetensors", folder.path / "weights");
  fs::create_symlink(folder.path / "weights", model / "model.safetensors");
  EXPECT_EQ(import_model(model).family, "gpt2");
  fs::create_directory_symlink(model, folder.path / "link");
  EXPECT_EQ(import_model(folder.path / "link").family, "gpt2");
}

TEST_F(Refused, AnIndexThatIsNone) {
  const fs::path model = golden("llama");
  for (const std::string& text :
       {std::string(10000, '['), std::string("[]"), std::string("{}"), std::string(R"({"weight_map": {}})"),
        std::string(R"({"weight_map": {"a": 1}})"), std::string(R"({"weight_map": ["a"]})"), std::string("")}) {
    test::write_text(model / kIndex, text);
    expect_refused(model, {kIndex});
  }
  test::write_text(model / kIndex, R"({"weight_map": {)" + std::string(std::size_t{17} << 20, ' ') + "}}");
  expect_refused(model, {kIndex, "bytes"});
}

TEST_F(Refused, SizesOfAConfigThatMakeNoModel) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"num_attention_heads\": 4", "\"num_attention_heads\": 0"},
           {"\"num_attention_heads\": 4", "\"num_attention_heads\": -4"},
           {"\"num_attention_heads\": 4", "\"num_attention_heads\": 3"},
           {"\"num_attention_heads\": 4", "\"num_attention_heads\": \"4\""},
           {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 0"},
           {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 2147483648"},
           {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1000000000"},
           {"\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1000000"},
           {"\"vocab_size\": 31", "\"vocab_size\": 0"},
           {"\"vocab_size\": 31", "\"vocab_size\": 2000000000"},
           {"\"layer_norm_eps\": 1e-05", "\"layer_norm_eps\": -1"},
           {"\"layer_norm_eps\": 1e-05", "\"layer_norm_eps\": NaN"},
           {"\"layer_norm_eps\": 1e-05", "\"layer_norm_eps\": 1e300"},
           {"\"max_position_embeddings\": 12", "\"max_position_embeddings\": 0"},
           {"\"max_position_embeddings\": 12", "\"max_position_embeddings\": 2147483647"},
           {"\"type_vocab_size\": 2", "\"type_vocab_size\": 2147483647"},
           {"\"hidden_size\": 16", "\"hidden_size\": 1.5"},
           {"\"model_type\": \"bert\"", "\"model_type\": \"mamba\""},
           {"\"model_type\": \"bert\"", "\"model_type\": \"t5\""},
           {"\"model_type\": \"bert\"", "\"model_type\": 7"}}) {
    SCOPED_TRACE(to);
    const fs::path model = golden("bert");
    replace_in(model / "config.json", from, to);
    expect_refused(model, {});
  }
  const fs::path model = golden("bert");
  replace_in(model / "config.json", "\"layer_norm_eps\": 1e-05", "\"layer_norm_eps\": 1e-12");
  EXPECT_EQ(import_model(model).model->config().norm_eps, 1e-12);
}

TEST_F(Refused, ShapesThatDisagreeWithTheConfigShowingBoth) {
  fs::path model = golden("gpt2");  // as a Linear would have it
  test::change_weights(model, [](Stored& all) {
    test::StoredTensor& qkv = all.at("transformer.h.0.attn.c_attn.weight");
    qkv.shape = Shape{qkv.shape[1], qkv.shape[0]};
  });
  expect_refused(model, {"transformer.h.0.attn.c_attn.weight is [48, 16] in the file, [16, 48] by the config (transposed)"});

  model = golden("gpt2");  // a padded vocabulary
  replace_in(model / "config.json", "\"vocab_size\": 31", "\"vocab_size\": 32");
  expect_refused(model, {"transformer.wte.weight is [31, 16] in the file, [32, 16] by the config"});

  model = golden("llama-tied-biased");
  replace_in(model / "config.json", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  expect_refused(model, {"missing: lm_head.weight [31, 16]", "tie_word_embeddings"});

  model = golden("gpt2-untied");
  replace_in(model / "config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true");
  expect_refused(model, {"lm_head.weight is to repeat tokens.embedding.weight", "differs"});
}

TEST_F(Refused, TensorsThatAreMissingOrLeftOverShowingBothLists) {
  fs::path model = golden("bert");
  replace_in(model / "config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
  expect_refused(model, {"16 tensors of the file are left over", "encoder.layer.1.", "and 10 more"});
  replace_in(model / "config.json", "\"num_hidden_layers\": 1", "\"num_hidden_layers\": 3");
  expect_refused(model, {"16 tensors of the model are missing", "encoder.layer.2."});

  model = golden("gpt2");
  test::change_weights(model, [](Stored& all) {
    all["transformer.h.0.adapter.weight"] = all.at("transformer.h.0.ln_1.weight");
    all.erase("transformer.h.1.ln_2.bias");
  });
  expect_refused(model, {"1 tensors of the model are missing: transformer.h.1.ln_2.bias [16]",
                         "1 tensors of the file are left over: transformer.h.0.adapter.weight [16]"});
}

TEST_F(Refused, AFinalNormThatTheConfigDoesNotHaveOrMisses) {
  fs::path model = golden("opt");
  replace_in(model / "config.json", "\"do_layer_norm_before\": true", "\"do_layer_norm_before\": false");
  expect_refused(model, {"left over: model.decoder.final_layer_norm", "the config says post-ln", "is the config right?"});
  model = golden("opt-post");
  replace_in(model / "config.json", "\"do_layer_norm_before\": false", "\"do_layer_norm_before\": true");
  expect_refused(model, {"missing: model.decoder.final_layer_norm", "the norms of post-ln"});
}

TEST_F(Refused, WhatTheModelWouldComputeOtherwise) {
  const auto change = [&](const char* name, const char* from, const char* to, const std::vector<std::string>& parts) {
    const fs::path model = golden(name);
    replace_in(model / "config.json", from, to);
    expect_refused(model, parts);
  };
  change("llama", "\"rope_type\": \"default\"", "\"rope_type\": \"linear\", \"factor\": 2.0", {"config.json", "stretched"});
  change("gpt2", "\"scale_attn_weights\": true", "\"scale_attn_weights\": false", {"not divided by"});
  change("gpt2", "\"scale_attn_by_inverse_layer_idx\": false", "\"scale_attn_by_inverse_layer_idx\": true", {"layer l"});
  change("gpt2", "\"activation_function\": \"gelu_new\"", "\"activation_function\": \"quick_gelu\"", {"quick_gelu"});
  change("gpt2", "\"add_cross_attention\": false", "\"add_cross_attention\": true", {"add_cross_attention"});
  change("bert", "\"BertModel\"", "\"BertForTokenClassification\"", {"BertForTokenClassification"});
  change("bert", "\"model_type\": \"bert\"", "\"model_type\": \"bert\", \"position_embedding_type\": \"relative_key\"",
         {"relative_key"});
  change("roberta-masked", "\"hidden_act\": \"gelu\"", "\"hidden_act\": \"relu\"", {"RobertaLMHead"});
  change("llama", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"gelu\"", {"gates go through gelu"});
}

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

TEST_F(Refused, ValuesThatAreNotFiniteAndTypesThatAreNotRead) {
  fs::path model = golden("gpt2");
  test::change_weights(model, [](Stored& all) {
    const float bad = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(all.at("transformer.h.1.mlp.c_fc.weight").bytes.data() + 40, &bad, sizeof bad);
  });
  expect_refused(model, {"transformer.h.1.mlp.c_fc.weight", "NaN or infinities"});
  EXPECT_NO_THROW(import_model(model, {.allow_nonfinite = true}));
  model = golden("gpt2");
  test::change_weights(model, [](Stored& all) { all.at("transformer.ln_f.weight").dtype = "I32"; });
  expect_refused(model, {"transformer.ln_f.weight is I32"});
}

TEST_F(Refused, SentenceModulesThatAreNotComputed) {
  const fs::path model = golden("bert");
  const auto modules = [&](const std::string& text) { test::write_text(model / "modules.json", text); };
  const std::string transformer = R"({"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"})";
  const std::string pooling = R"({"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"})";
  const std::string dense = R"({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})";
  fs::create_directory(model / "1_Pooling");
  test::write_text(model / "1_Pooling" / "config.json", R"({"pooling_mode_cls_token": true})");
  modules("[" + transformer + "," + pooling + "]");
  const ImportedModel imported = import_model(model);
  ASSERT_TRUE(imported.sentence);
  EXPECT_EQ(imported.sentence->pooling, Pooling::first);
  EXPECT_FALSE(imported.sentence->normalize);
  modules("[" + transformer + "," + pooling + "," + dense + "]");
  expect_refused(model, {"modules.json", "Dense"});
  modules("[" + transformer + "]");
  expect_refused(model, {"modules.json"});
  modules("{}");
  expect_refused(model, {"modules.json"});
  modules("[" + transformer + R"(,{"path": "../x", "type": "Pooling"}])");
  expect_refused(model, {"modules.json", "plain name of a folder"});
  modules("[" + transformer + "," + pooling + "]");
  test::write_text(model / "1_Pooling" / "config.json", R"({"pooling_mode_max_tokens": true})");
  expect_refused(model, {"pooling_mode_max_tokens"});
  test::write_text(model / "1_Pooling" / "config.json", R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})");
  expect_refused(model, {"pooling_mode_mean_tokens, pooling_mode_cls_token; supported is one of"});
}

TEST_F(Refused, Llama2cFilesThatAreNotWhole) {
  const fs::path file = folder.path / "model.bin";
  const auto with = [&](const std::vector<std::int32_t>& header, std::size_t bytes) {
    std::string text(reinterpret_cast<const char*>(header.data()), header.size() * sizeof(std::int32_t));
    text.resize(std::max(text.size(), bytes), '\1');
    test::write_text(file, text);
  };
  with({8, 12, 1, 2, 2, 5, 4}, 400);
  expect_refused(file, {"its header speaks of", "truncated"});
  with({8, 12, 1000000, 2, 2, 5, 4}, 400);
  expect_refused(file, {"its header speaks of"});
  with({0x616b3432, 2, 1, 2, 2, 5, 4}, 400);
  expect_refused(file, {"version 2", "version 0 is read"});
  with({8, 12, 1, 2, 2, 5, 4}, 100000);
  expect_refused(file, {"its header speaks of", "another version"});
}

TEST_F(Refused, PositionsThatNoMemoryHolds) {
  const fs::path model = golden("llama");
  replace_in(model / "config.json", "\"max_position_embeddings\": 12", "\"max_position_embeddings\": 2147483647");
  expect_refused(model, {"2147483647 positions", "max_position_embeddings"});
}

TEST_F(Refused, WeightsUnderAnotherNameThatStandBesideOnesThatWouldBeRead) {
  const fs::path model = golden("gpt2");
  fs::copy_file(model / "model.safetensors", model / "tuned.safetensors");
  expect_refused(model / "tuned.safetensors", {"tuned.safetensors", "model.safetensors"});
  EXPECT_EQ(import_model(model / "model.safetensors").family, "gpt2");
}

TEST_F(Refused, TextsThatAreMadeLowerCaseBeforeTheTokenizer) {
  const fs::path model = golden("bert");
  test::write_text(model / "modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},)"
                                           R"({"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  fs::create_directory(model / "1_Pooling");
  test::write_text(model / "1_Pooling" / "config.json", R"({"pooling_mode_mean_tokens": true})");
  test::write_text(model / "sentence_bert_config.json", R"({"max_seq_length": 8, "do_lower_case": false})");
  EXPECT_EQ(import_model(model).sentence->max_tokens, 8u);
  test::write_text(model / "sentence_bert_config.json", R"({"max_seq_length": 8, "do_lower_case": true})");
  expect_refused(model, {"sentence_bert_config.json", "do_lower_case"});
}

TEST_F(Refused, AnExportOfPackedWeights) {
  const ImportedModel imported = import_model(golden("bert"));
  pack_weights(*imported.model);
  EXPECT_THROW(export_model(imported, folder.path / "out"), UsageError);
  EXPECT_FALSE(fs::exists(folder.path / "out"));
}

// A width of 128 begins with the byte that pickles begin with.
TEST_F(Refused, NoLlama2cFileForItsWidth) {
  const std::vector<std::int32_t> header{128, 4, 1, 2, 2, 5, 4};
  const std::size_t layer = 128 * (2 + 4 * 128 + 3 * 4), numbers = 5 * 128 + layer + 128 + 4 * 64;
  std::string text(reinterpret_cast<const char*>(header.data()), header.size() * sizeof(std::int32_t));
  text.resize(text.size() + numbers * sizeof(float), '\0');
  test::write_text(folder.path / "model.bin", text);
  EXPECT_EQ(import_model(folder.path / "model.bin").model->config().d_model, 128u);
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
  expect_refused(model, {"transformer.wte.weight", "NaN or infinities"});
}

}  // namespace
}  // namespace addnorm
