// Checkpoints that others trained, in our models: Hugging Face's folders, llama2.c's files, minGPT's names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/model/model.h"
#include "addnorm/model/sentence.h"

namespace addnorm {

struct ImportOptions {
  bool allow_nonfinite = false;  ///< NaN and infinities among the weights
  /// The arrangement in place of what the config says, for weights whose config is wrong: each norm of a unit stands where this
  /// one has it. Only those with one norm per unit.
  std::optional<std::string> arrangement{};
  std::optional<bool> final_norm{};  ///< in place of what config and arrangement say
  std::size_t heads = 0;             ///< of files that do not say it (minGPT's names without a config); 0: as there
};

struct ImportLayout;  // under what names, in which files and types the tensors stood; model/import/weights/layout.h

struct ImportedModel {
  std::unique_ptr<Model> model;
  std::filesystem::path weights{};  ///< the file, or the first of the shards
  std::string family{};  ///< "gpt2", "bert", "roberta", "distilbert", "llama", "olmo2", "opt", "llama2c", "mingpt", "open-nmt"
  /// What was read and is not computed with, what the file did not say: a sentence each. Never anything that changes what the
  /// model computes; that is refused.
  std::vector<std::string> notes{};
  std::vector<std::int32_t>
      end_tokens{};  ///< of a language model: where its texts end, as eos_token_id says; empty: nothing said
  std::optional<SentenceOptions> sentence{};     ///< sentence-transformers: how vectors of tokens become one of the text
  std::shared_ptr<const ImportLayout> layout{};  ///< for export_model
};

/// A folder with config.json and model.safetensors (or shards and their index), its model.safetensors, a llama2.c .bin, or a
/// folder with one. Every tensor of the files is accounted for: it is a parameter of the model (F32, F16 or BF16, placed and
/// where needed transposed), a copy of one, known to carry nothing, or an error. A DataError names the file and shows both lists:
/// what is missing and what is left over, and shapes where they differ. Anything that
/// the model would compute differently than there is a DataError too.
///
/// Costs reading the files once, straight into place: no second copy of the weights.
ImportedModel import_model(const std::filesystem::path& folder_or_file, const ImportOptions& options = {});
/// The weights as they are now, in the layout they came in: the same file names, tensor names, types and shapes, with
/// config.json and what else belongs to the model beside them. Without training in between every tensor has the same bits. What
/// is not computed with is read from where it came from: a DataError when that has changed. The folder is made where there is
/// none; it may be the one it came from. One that holds files of another model which import_model would read in place of these,
/// or with them (other weights or shards, an index, a modules.json, a tokenizer that this one has not), is a DataError, and
/// nothing is written.
void export_model(const ImportedModel& imported, const std::filesystem::path& folder);

/// Whether the folder or file is for import_model and not for load_model: no config.json of ours.
bool is_import(const std::filesystem::path& folder_or_file);
std::vector<std::string> import_families();

}  // namespace addnorm
