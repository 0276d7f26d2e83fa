// Every claim: a line in list.inc, and a section in the file of its theme (texts/ or papers/), which defines its claim(). And the
// texts that the S-claims come from.
#pragma once

#include <array>

#include "addnorm/claims/claim.h"

namespace addnorm {

// The four texts that the project began with: by author and title, or by their first words where they have neither.
inline constexpr const char* kBeforeStudying = "\"Before studying two concrete transformer models\"";
inline constexpr const char* kChapter23 = "\"23. Residual Connections\"";
inline constexpr const char* kClassicalTransformer = "\"The classical Transformer\"";
inline constexpr const char* kLecture = "Prathosh A P, \"Transformers: Skip Connections and Normalization\"";

/// In the order of the S-claims. The source of each begins with the name of its text.
inline constexpr std::array kTexts{kBeforeStudying, kChapter23, kClassicalTransformer, kLecture};

}  // namespace addnorm

namespace addnorm::lab {

#define CLAIM(name) \
  namespace name {  \
  Claim claim();    \
  }
#include "claims/list.inc"
#undef CLAIM

}  // namespace addnorm::lab
