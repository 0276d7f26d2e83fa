// A program on the plainest platform there can be: no files, threads, pages, processes, facts of the machine, Unicode, patterns.
// It is linked with the sources of these choices, which take the place of the library's own.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "addnorm/addnorm.h"
#include "core/file.h"
#include "core/system/child.h"
#include "core/system/files.h"
#include "core/system/machine.h"
#include "core/system/team.h"
#include "data/tokenizer/steps/regex.h"
#include "data/tokenizer/steps/steps.h"
#include "support/folder.h"

namespace addnorm {
namespace {

/// What the error says; fails where there is none.
template <class E = DataError, class Body>
std::string refusal(Body&& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "was not refused";
  return "";
}
bool says(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

struct Counting final : Dataset {
  Batch batch(std::uint64_t first, std::size_t count) const override {
    Batch all{.first = first, .sequences = count};
    for (std::size_t i = 0; i < count; ++i) {
      all.ids.insert(all.ids.end(), {3, 1, 4, 1, 5, 9, 2, 6});
      all.labels.insert(all.labels.end(), {1, 4, 1, 5, 9, 2, 6, 5});
    }
    return all;
  }
  std::uint64_t size() const override { return 1; }
};

TEST(PlainPlatform, TrainsOnOneThreadWithMemoryOfTheHeap) {
  set_threads(4);
  EXPECT_EQ(team::offered(), 1);
  LanguageModel model({.vocab = 16, .layers = 2, .d_model = 32, .heads = 2, .seq_len = 8, .arrangement = "pre-ln"});
  const Counting data;
  Trainer trainer(model, data, {.batch_size = 2, .schedule = {.rate = 3e-3, .warmup = 2, .steps = 40}});
  const double first = trainer.step().loss;
  double last = first;
  while (trainer.steps() < 40) last = trainer.step().loss;
  EXPECT_LT(last, first / 2);
}

TEST(PlainPlatform, RefusesFilesByNameAndSaysWhichChoiceItIs) {
  const auto refused = [](auto&& body) {
    const std::string why = refusal(body);
    EXPECT_TRUE(says(why, "here.safetensors")) << why;
    EXPECT_TRUE(says(why, ": this build of addnorm has no files (ADDNORM_FILES=none)")) << why;
  };
  refused([] { SafetensorsReader("here.safetensors"); });
  refused([] {
    SafetensorsWriter writer;
    writer.add("x", Tensor({2}));
    writer.save("here.safetensors");
  });
  refused([] { small_text("here.safetensors", "a text"); });
  refused([] { make_folder("here.safetensors"); });
  EXPECT_FALSE(is_there("/etc/passwd"));
  EXPECT_TRUE(says(refusal([] { read_tokenizer("tokenizer.json"); }), "ADDNORM_FILES=none"));
  EXPECT_TRUE(says(refusal([] { import_model("weights"); }), "there is no such folder or file"));
  EXPECT_TRUE(says(refusal([] { RunLock("runs/a"); }), "runs: this build of addnorm has no files"));
}

TEST(PlainPlatform, KnowsNothingOfItsMachineAndStartsNoProcess) {
  EXPECT_EQ(granted_threads(), 1);
  EXPECT_EQ(machine_facts().processor, "unknown");
  EXPECT_GE(available_memory().bytes, std::size_t{1} << 30);
  const std::string why = refusal<Error>([] { Child::logged({"/bin/true"}, "log"); });
  EXPECT_TRUE(says(why, "ADDNORM_PROCESSES=none")) << why;
}

TEST(PlainPlatform, ReadsCharactersBytesAndTheBuiltInLanguage) {
  const std::string text = "na\xC3\xAFve caf\xC3\xA9\n";
  const auto bytes = byte_tokenizer(), characters = char_tokenizer(text);
  EXPECT_EQ(bytes->decode(bytes->encode(text)), text);
  EXPECT_EQ(characters->decode(characters->encode(text)), text);
  EXPECT_EQ(characters->encode(text).size(), 11u);

  const Language language;
  const auto words = language.tokenizer();
  const std::string sentence = language.words().front() + " " + language.words().back();
  EXPECT_EQ(words->encode(sentence).size(), 2u);
  const std::string why = refusal([&] { words->encode(text); });
  EXPECT_TRUE(says(why, "U+00EF '\xC3\xAF': this build of addnorm knows no characters beyond ASCII")) << why;
}

TEST(PlainPlatform, RefusesTokenizersThatNeedUnicodeOrPatterns) {
  const auto why = [](const char* normalizer, const char* pre_tokenizer) {
    TokenizerSpec spec;
    spec.normalizer = normalizer;
    spec.pre_tokenizer = pre_tokenizer;
    return refusal([&] { steps_of(spec, "tokenizer.json"); });
  };
  for (const char* type : {"NFC", "NFKD", "Lowercase", "StripAccents", "BertNormalizer"}) {
    const std::string said = why(concat("{\"type\":\"", type, "\"}").c_str(), "null");
    EXPECT_TRUE(
        says(said, concat("tokenizer.json: normalizer.type is \"", type, "\"; this build of addnorm knows no characters ")))
        << said;
    EXPECT_TRUE(says(said, "build it with ICU")) << said;
  }
  for (const char* type : {"ByteLevel", "BertPreTokenizer", "Digits", "Punctuation"}) {
    const std::string said = why("null", concat("{\"type\":\"", type, "\"}").c_str());
    EXPECT_TRUE(says(said, concat("tokenizer.json: pre_tokenizer.type is \"", type, "\"; this build "))) << said;
  }
  const std::string pattern = why("null", R"({"type":"Split","pattern":{"Regex":"a+"},"behavior":"Isolated"})");
  EXPECT_TRUE(says(pattern, "ADDNORM_PATTERNS=none")) << pattern;
}

TEST(PlainPlatform, TakesTokenizersThatNeedOnlyWhiteSpace) {
  TokenizerSpec spec;
  spec.normalizer = R"({"type":"Strip"})";
  spec.pre_tokenizer = R"({"type":"WhitespaceSplit"})";
  const TokenizerSteps steps = steps_of(spec, "tokenizer.json");
  std::string text =
      "\xE3\x80\x80 caf\xC3\xA9\xC2\xA0"
      "au lait ";
  for (const NormalizerStep& step : steps.normalizers) step(text);
  TextParts parts;
  parts.parts = {text};
  for (const PreTokenizerStep& step : steps.pre_tokenizers) step(parts);
  EXPECT_EQ(parts.parts, (std::vector<std::string_view>{"caf\xC3\xA9", "au", "lait"}));
}

}  // namespace
}  // namespace addnorm
