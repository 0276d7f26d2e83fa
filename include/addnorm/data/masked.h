// Masked language models: some tokens are hidden, and only those are predicted.
#pragma once

#include <cstdint>
#include <memory>

#include "addnorm/data/dataset.h"
#include "addnorm/data/tokenizer.h"

namespace addnorm {

struct MaskOptions {
  double share = 0.15;     ///< of a sequence's tokens are predicted, rounded, at least one
  double hidden = 0.8;     ///< of these are replaced by the mask token,
  double replaced = 0.1;   ///< by a random token, special ones excepted; the others stay as they are
  std::uint64_t seed = 1;  ///< the mask of sample i is a function of (seed, i): another one each epoch
};

/// The ids of `data` with masks; labels: the token where it is to be predicted, else kIgnoredLabel. Special tokens and padding
/// are never chosen. The tokenizer, of which only the special tokens are kept, needs a mask token.
std::unique_ptr<Dataset> masked(std::shared_ptr<const Dataset> data, const Tokenizer& tokenizer, const MaskOptions& options = {});

}  // namespace addnorm
