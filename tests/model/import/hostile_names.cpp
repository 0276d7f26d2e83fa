// Names in files that would command a terminal, or begin another line: shown, but escaped. (expect_refused looks at that.)
#include "addnorm/data/tokenizer.h"
#include "addnorm/model/hugging_face.h"
#include "model/import/refusals.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::expect_refused;
using test::kIndex;
using test::Refused;
using test::replace_in;
using test::Stored;

constexpr const char* kRed = R"(\u001b[31mred\n)";         // in JSON
constexpr const char* kShown = "\\x1b[31mred\\n";          // in a message
constexpr const char* kShownInJson = "\\u001b[31mred\\n";  // where it is printed as JSON

TEST_F(Refused, AnIndexWithHostileNames) {
  fs::path model = golden("llama");
  replace_in(model / kIndex, "model.norm.weight", kRed);
  expect_refused(model, {kIndex, kShown, "does not have it"});
  model = golden("llama");
  replace_in(model / kIndex, "model.norm.weight\": \"model-00003-of-00003.safetensors\"", concat(kRed, "\": 3"));
  expect_refused(model, {kIndex, kShown, "it must be the name of a file"});
  for (const char* name : {kRed, R"(\u009b31m)", R"(\u202ex)"}) {
    model = golden("llama");
    replace_in(model / kIndex, "\"model-00001-of-00003.safetensors\"", concat("\"", name, "\""));
    expect_refused(model, {kIndex, "weight_map gives", "plain name"});
  }
}

TEST_F(Refused, TensorsWithHostileNames) {
  fs::path model = golden("gpt2");
  test::change_weights(model, [](Stored& all) { all["\u009b2Jleft\u202e"] = all.at("transformer.ln_f.weight"); });
  expect_refused(model, {"left over: \\u009b2Jleft\\u202e [16]"});
  model = golden("llama");
  Stored shard = test::stored(model / "model-00003-of-00003.safetensors");
  shard["\u009b2J"] = shard.begin()->second;
  test::store(model / "model-00003-of-00003.safetensors", shard);
  expect_refused(model, {"has the tensor \\u009b2J, which"});
}

TEST_F(Refused, ConfigsWithHostileValues) {
  fs::path model = golden("bert");
  replace_in(model / "config.json", "\"model_type\": \"bert\"", concat("\"model_type\": \"", kRed, "\""));
  expect_refused(model, {"config.json", kShownInJson});
  model = golden("llama");
  replace_in(model / "config.json", "{", concat("{\"rope_scaling\": {\"type\": \"", kRed, "\\u007f\"},"));
  expect_refused(model, {"config.json", concat(kShown, "\\x7f")});
  model = golden("bert");
  test::write_text(model / "modules.json", concat(R"([{"path": "", "type": "a.)", kRed, R"("}])"));
  expect_refused(model, {"modules.json", concat("the modules are ", kShown)});
}

TEST(HostileConfig, NotesAreSafeToPrint) {
  const HuggingFaceConfig read = hugging_face_config(
      concat(R"({"model_type": "gpt2", "architectures": ["GPT2ForSequenceClassification)", kRed, R"("]})"), "config.json");
  EXPECT_TRUE(test::mentions(read.notes, concat("GPT2ForSequenceClassification", kShown)));
  for (const std::string& note : read.notes) EXPECT_EQ(note, printable(note));
  for (const std::string& one : read.differences) EXPECT_EQ(one, printable(one));
}

void expect_tokenizer_refused(const test::TemporaryFolder& folder, const std::string& json, const std::string& said) {
  try {
    read_tokenizer(folder.write("tokenizer.json", json));
    ADD_FAILURE() << json << " was read";
  } catch (const DataError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what, printable(what));
    EXPECT_NE(what.find(said), std::string::npos) << said << " is not in: " << what;
  }
}

TEST_F(Refused, TokenizersWithHostileTokensAndFields) {
  const auto tokenizer = [](const std::string& more, const std::string& merges = "") {
    return concat(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, ")", kRed, R"(": 2}, "merges": [)", merges, "]}", more,
                  "}");
  };
  EXPECT_NO_THROW(read_tokenizer(folder.write("tokenizer.json", tokenizer(""))));
  expect_tokenizer_refused(folder, tokenizer(concat(R"(, ")", kRed, R"(": 1)")), concat("has a field '", kShown, "'"));
  expect_tokenizer_refused(folder, tokenizer(concat(R"(, "added_tokens": [{"id": 0, "content": ")", kRed, R"("}])")),
                           concat("gives '", kShown, "' the id 0"));
  expect_tokenizer_refused(folder, tokenizer("", concat("[\"a\", \"", kRed, "\"]")), concat("joins 'a' and '", kShown, "'"));
  expect_tokenizer_refused(folder, tokenizer("", concat("\"", kRed, "\"")), concat("is '", kShown, "'"));
  expect_tokenizer_refused(
      folder,
      tokenizer(concat(R"(, "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": ")", kRed,
                       R"(", "type_id": 0}}], "special_tokens": {}})")),
      kShown);
  expect_tokenizer_refused(
      folder,
      tokenizer(
          concat(R"(, "pre_tokenizer": {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": ")", kRed, R"(*|"}})")),
      "pattern");
}

}  // namespace
}  // namespace addnorm
