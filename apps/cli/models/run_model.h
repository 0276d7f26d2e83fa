// A trained model with what belongs to it: the folder of a run, any folder with model.safetensors and config.json, or a
// checkpoint of others.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/data/tokenizer.h"
#include "addnorm/model/import.h"

namespace addnorm::cli {

struct RunModel {
  std::filesystem::path folder;  ///< where the weights are
  std::unique_ptr<Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;  ///< null: no text
  std::filesystem::path tokenizer_path{};      ///< the file it was read from
  std::string extra;                           ///< JSON of what the data brought along
  bool answers = false;                        ///< a language model of pairs: source, begin token, target, end token
  // Of a checkpoint of others only.
  std::string family{};  ///< as in ImportedModel; empty: a model of ours
  std::optional<SentenceOptions> sentence{};
  std::vector<std::int32_t> ends{};  ///< as ImportedModel::end_tokens
};

/// What --threads asks for; 0: what OMP_NUM_THREADS says, or else the machine or its container grants.
int threads_for(int asked);
/// From now on so many work. Their number.
int use_threads(int asked);
/// For --help.
inline constexpr const char* kThreadsByDefault =
    "0: OMP_NUM_THREADS, or where that is not set what the machine or its container grants";

/// A run, a folder of a model of ours, or what import_model takes: a folder of Hugging Face, its model.safetensors, a llama2.c
/// .bin. weights: "best" (lowest validation loss), "last", or "" for the best where there is one. `notes` hears which. A
/// tokenizer with ids that the model does not have is a DataError, and so is a checkpoint of others without one that is read,
/// unless ids will do: then a language model may come with no tokenizer at all.
enum class Needs : unsigned char { text, text_or_ids };
RunModel load_run(const std::filesystem::path& run, const std::string& weights, std::ostream& notes, Needs needs = Needs::text);

/// The DataError of a model of ours without its tokenizer.json. For checkpoints of others load_run throws one itself, since all
/// commands show them text.
[[noreturn]] void throw_no_tokenizer(const std::string& run);
/// A DataError where the tokenizer of a masked model has no mask token.
void require_mask(const RunModel& model, const std::string& run);

/// Whoever sits before a terminal is told that `--data -` waits for them to type.
void tell_if_waiting(std::ostream& notes);

}  // namespace addnorm::cli
