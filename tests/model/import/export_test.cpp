// What export leaves in a folder is what a later import reads: beside other weights, and with modules under any name.
#include <gtest/gtest.h>

#include "addnorm/core/error.h"
#include "addnorm/model/import.h"
#include "support/models/import_files.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

struct Export : testing::Test {
  fs::path golden(const std::string& name, const std::string& to) const { return test::copy_of_golden(name, folder.path / to); }
  /// The weights as two files and their index.
  static void split(const fs::path& model) {
    test::Stored first = test::stored(model / "model.safetensors"), second;
    std::string index;
    while (second.size() < first.size()) second.insert(first.extract(std::prev(first.end())));
    const auto name_all = [&](const test::Stored& some, const std::string& file) {
      for (const auto& entry : some) index += (index.empty() ? "\"" : ", \"") + entry.first + "\": \"" + file + "\"";
    };
    name_all(first, "model-00001-of-00002.safetensors");
    name_all(second, "model-00002-of-00002.safetensors");
    test::store(model / "model-00001-of-00002.safetensors", first);
    test::store(model / "model-00002-of-00002.safetensors", second);
    test::write_text(model / "model.safetensors.index.json", "{\"weight_map\": {" + index + "}}");
    fs::remove(model / "model.safetensors");
  }
  /// One line that names the file; nothing in the folder has changed.
  void expect_refused(const fs::path& from, const fs::path& to, const std::string& named) const {
    std::map<std::string, std::string> before, after;
    const auto look = [&](std::map<std::string, std::string>& files) {
      for (const auto& entry : fs::recursive_directory_iterator(to))
        files[entry.path().string()] = entry.is_regular_file() ? test::text_of(entry.path()) : "";
    };
    look(before);
    try {
      export_model(import_model(from), to);
      FAIL() << "exported beside " << named;
    } catch (const DataError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      for (const std::string& part : {(to / named).string(), std::string("another folder")})
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    look(after);
    EXPECT_EQ(before, after);
  }
  test::TemporaryFolder folder;
};

TEST_F(Export, RefusesAFolderWithWeightsThatWouldBeReadInPlaceOfItsOwn) {
  const fs::path one = golden("gpt2", "one"), shards = golden("gpt2", "shards");
  split(shards);
  expect_refused(shards, golden("gpt2", "beside-one"), "model.safetensors");
  const fs::path beside_shards = golden("gpt2", "beside-shards");
  split(beside_shards);
  expect_refused(one, beside_shards, "model-00001-of-00002.safetensors");
  fs::create_directories(folder.path / "beside-a-shard");
  fs::copy(shards / "model-00001-of-00002.safetensors", folder.path / "beside-a-shard" / "model-00001-of-00009.safetensors");
  expect_refused(shards, folder.path / "beside-a-shard", "model-00001-of-00009.safetensors");
}

TEST_F(Export, RefusesAFolderWithFilesThatSayOtherwiseHowItsWeightsAreRead) {
  const fs::path bert = golden("bert", "bert");
  for (const char* name : {"modules.json", "model.safetensors.index.json", "tokenizer.json", "sentence_bert_config.json"}) {
    const fs::path to = folder.path / ("beside-" + std::string(name));
    fs::create_directories(to);
    test::write_text(to / name, "[]");
    expect_refused(bert, to, name);
  }
}

TEST_F(Export, GoesBesideWhatIsOfNoModelAndInPlaceOfItself) {
  const fs::path shards = golden("gpt2", "shards"), to = folder.path / "to";
  split(shards);
  fs::create_directories(to);
  test::write_text(to / "README.md", "mine");
  const ImportedModel imported = import_model(shards);
  for (int time = 0; time < 2; ++time) {
    export_model(imported, to);
    test::expect_same_files(shards, to);
    EXPECT_EQ(import_model(to).model->config().layers, imported.model->config().layers);
  }
  EXPECT_EQ(test::text_of(to / "README.md"), "mine");
  export_model(import_model(shards), shards);
}

TEST_F(Export, TakesThePoolingFolderThatModulesJsonNames) {
  for (const std::string below : {"", "encoder"}) {
    const fs::path in = folder.path / ("in" + below), out = folder.path / ("out" + below);
    fs::create_directories(in);
    golden("bert", (fs::path("in" + below) / below).string() + (below.empty() ? "model" : ""));
    if (below.empty()) {
      for (const auto& entry : fs::directory_iterator(in / "model")) fs::rename(entry.path(), in / entry.path().filename());
      fs::remove(in / "model");
    }
    fs::create_directories(in / "the mean");
    test::write_text(in / "the mean" / "config.json", R"({"pooling_mode_cls_token": true})");
    test::write_text(in / "modules.json", R"([{"idx": 0, "name": "0", "path": ")" + below +
                                              R"(", "type": "sentence_transformers.models.Transformer"},
      {"idx": 1, "name": "1", "path": "the mean", "type": "sentence_transformers.models.Pooling"}])");
    const ImportedModel imported = import_model(in);
    ASSERT_TRUE(imported.sentence);
    export_model(imported, out);
    const ImportedModel again = import_model(out);
    ASSERT_TRUE(again.sentence);
    EXPECT_EQ(again.sentence->pooling, Pooling::first);
    EXPECT_EQ(test::text_of(out / "the mean" / "config.json"), test::text_of(in / "the mean" / "config.json"));
  }
}

}  // namespace
}  // namespace addnorm
