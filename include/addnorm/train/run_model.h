// A trained model with what belongs to it: the folder of a run, any folder with model.safetensors and config.json, or a
// checkpoint of others.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/core/names.h"
#include "addnorm/data/tokenizer.h"
#include "addnorm/model/import.h"

namespace addnorm {

/// Which weights of a run: the best are those with the lowest validation loss.
enum class RunWeights : unsigned char { best_if_there, best, last };

struct RunModel {
  std::filesystem::path folder;  ///< where the weights are
  std::unique_ptr<Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;  ///< null: no text
  std::filesystem::path tokenizer_path{};      ///< the file it was read from
  std::string extra;                           ///< JSON of what the data brought along
  bool answers = false;                        ///< a language model of pairs: source, begin token, target, end token
  std::optional<RunWeights> weights{};         ///< best or last, of a run that has both
  // Of a checkpoint of others only.
  std::string family{};  ///< as in ImportedModel; empty: a model of ours
  std::optional<SentenceOptions> sentence{};
  std::vector<std::int32_t> ends{};  ///< as ImportedModel::end_tokens
  std::vector<std::string> notes{};  ///< as ImportedModel::notes
};

/// Whether a language model of others may come without a tokenizer, because ids in place of text will do.
enum class TextNeeds : unsigned char { text, text_or_ids };

/// A run, a folder of a model of ours, or what import_model takes: a folder of Hugging Face, its model.safetensors, a llama2.c
/// .bin. A tokenizer with ids that the model does not have is a DataError, and so is a checkpoint of others without one that is
/// read, unless ids will do. `words`: what messages call the argument `weights`.
RunModel load_run(const std::filesystem::path& run, RunWeights weights = RunWeights::best_if_there,
                  TextNeeds needs = TextNeeds::text, const FieldWords& words = nullptr);

/// The DataError of a model of ours without its tokenizer.json. For checkpoints of others load_run throws one itself.
[[noreturn]] void throw_no_tokenizer(const std::string& run);
/// A DataError where the tokenizer of a masked model has no mask token.
void require_mask(const RunModel& model, const std::string& run);

}  // namespace addnorm
