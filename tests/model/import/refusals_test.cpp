// What is not imported, and how that is reported. Here: an index and the files that it names, reliability cases H-01 to H-05.
#include "model/import/refusals.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::copy_of_golden;
using test::expect_refused;
using test::kIndex;
using test::Refused;
using test::replace_in;
using test::Stored;

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

}  // namespace
}  // namespace addnorm
