// Which folders and files are for import_model, and what a user says of files that do not say it themselves.
#include <cstring>

#include "addnorm/autograd/tape.h"
#include "addnorm/model/language_model.h"
#include "addnorm/train/weights.h"
#include "model/import/refusals.h"
#include "support/near.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::expect_refused;
using test::Refused;
using test::Stored;

TEST_F(Refused, NeitherFilesNorFoldersByWhetherTheyAreImports) {
  const auto model = make_model({.vocab = 7, .layers = 1, .d_model = 8, .heads = 2, .seq_len = 8});
  save_model(folder.path / "ours", *model);
  fs::create_directory(folder.path / "empty");
  const fs::path theirs = golden("gpt2"), plain = folder.write("notes.txt", "some words\n");
  const fs::path alone = folder.write("alone/model.safetensors", "");
  EXPECT_TRUE(is_import(theirs));
  EXPECT_TRUE(is_import(theirs / "model.safetensors"));
  EXPECT_FALSE(is_import(folder.path / "ours"));
  EXPECT_FALSE(is_import(folder.path / "ours" / "model.safetensors"));
  EXPECT_TRUE(is_import(folder.path / "empty"));  // import_model says that it has no weights
  EXPECT_TRUE(is_import(alone));
  EXPECT_TRUE(is_import(plain));  // import_model says that it is no checkpoint
  expect_refused(plain, {"notes.txt", "is no checkpoint that is read"});
  EXPECT_FALSE(is_import(folder.path / "nowhere"));
  EXPECT_FALSE(is_import(folder.path / "nowhere" / "model.safetensors"));
  EXPECT_FALSE(is_import(plain / "below"));
  EXPECT_FALSE(is_import("/dev/null"));
  EXPECT_FALSE(is_import(""));
}

/// GPT-2's golden as minGPT would have saved it: its matrices the other way round, and no config.
void make_mingpt(const fs::path& model) {
  fs::remove(model / "config.json");
  test::change_weights(model, [](Stored& all) {
    for (auto& [name, tensor] : all) {
      if (tensor.shape.rank() != 2 || name.find(".h.") == std::string::npos) continue;
      const std::size_t rows = tensor.shape[0], columns = tensor.shape[1];
      const std::vector<std::byte> from = tensor.bytes;
      for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j)
          std::memcpy(&tensor.bytes[(j * rows + i) * sizeof(float)], &from[(i * columns + j) * sizeof(float)], sizeof(float));
      tensor.shape = Shape{columns, rows};
    }
  });
}

TEST_F(Refused, HeadsThatAUserGivesAndTheWeightsCannotHave) {
  const fs::path model = golden("gpt2");
  make_mingpt(model);
  expect_refused(model, {"minGPT's names, 2 layers of width 16", "give the heads"});
  for (const std::size_t heads : {std::size_t{3}, std::size_t{5}, std::size_t{17}, std::size_t{1} << 40})
    expect_refused(model, {"heads"}, {.heads = heads});

  const ImportedModel imported = import_model(model, {.heads = 4}), known = import_model(test::import_golden("gpt2"));
  EXPECT_EQ(imported.family, "mingpt");
  const std::vector<std::int32_t> ids{4, 9, 2, 17, 30, 5};
  const NoGrad no_grad;
  const auto logits = [&](const ImportedModel& of) { return dynamic_cast<LanguageModel&>(*of.model)({.ids = ids}).value(); };
  EXPECT_NEAR_ALL(logits(imported), logits(known), test::exact());
}

}  // namespace
}  // namespace addnorm
