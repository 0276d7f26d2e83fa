// Weights without a config.json: what model they are of is told by their names and shapes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "addnorm/model/config.h"
#include "model/import/source.h"
#include "model/import/weights/family.h"

namespace addnorm::importing {

struct GuessedConfig {
  const ImportFamily* family;
  ModelConfig config;
  std::vector<std::string> notes;  ///< what names and shapes do not say
};

/// Nothing: the names are of no family that is known without a config. `heads` 0: what models of that size have; a DataError
/// where that is not known.
std::optional<GuessedConfig> guessed_config(const WeightSource& source, std::size_t heads);

}  // namespace addnorm::importing
