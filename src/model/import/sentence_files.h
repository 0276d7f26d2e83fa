// The files of sentence-transformers beside a model: modules.json, 1_Pooling/config.json, sentence_bert_config.json.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "addnorm/model/sentence.h"

namespace addnorm::importing {

struct SentenceFiles {
  std::filesystem::path transformer{};          ///< below the folder: where the encoder is; mostly the folder itself
  std::vector<std::filesystem::path> others{};  ///< below the folder: those of the modules behind it
  SentenceOptions options{};
};

/// Nothing: the folder has no modules.json. A module or a pooling that is not computed here is a DataError that names it.
std::optional<SentenceFiles> read_sentence_files(const std::filesystem::path& folder);

}  // namespace addnorm::importing
