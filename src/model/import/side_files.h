// What stands beside the weights of a model: tokens that end texts, what sentence-transformers adds, files that an export copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "addnorm/model/sentence.h"

namespace addnorm::importing {

/// eos_token_id of generation_config.json, or where that has none of config.json: a number, or a list of them. Ids that the
/// vocabulary does not have (-1: none) cannot be drawn and are left out. Anything else is a DataError that names file and field.
std::vector<std::int32_t> read_end_tokens(const std::filesystem::path& folder, std::size_t vocabulary);

/// modules.json, 1_Pooling/config.json, sentence_bert_config.json.
struct SentenceFiles {
  std::filesystem::path transformer{};          ///< below the folder: where the encoder is; mostly the folder itself
  std::vector<std::filesystem::path> others{};  ///< below the folder: those of the modules after it
  SentenceOptions options{};
};
/// Nothing: the folder has no modules.json. A module or a pooling that is not computed here is a DataError that names it.
std::optional<SentenceFiles> read_sentence_files(const std::filesystem::path& folder);

/// Weights and what belongs to them in `to` that would not be replaced by `weights` (their names count) and what is beside them
/// in `from`: a later import would read it in their place, or with them. A DataError names the first; nothing is removed.
void refuse_other_models(const std::filesystem::path& from, const std::filesystem::path& to,
                         const std::vector<std::filesystem::path>& weights);

/// config.json, tokenizers and the like, where they are there.
void copy_side_files(const std::filesystem::path& from, const std::filesystem::path& to);
/// That alone, of a module of sentence-transformers.
void copy_config(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace addnorm::importing
