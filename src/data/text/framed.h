// Ids between what a tokenizer puts around a text.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "addnorm/data/tokenizer.h"

namespace addnorm {

/// frame.before, ids, frame.behind. The ids are those of a text, or of as much of one as a model takes.
inline std::vector<std::int32_t> framed(const TextFrame& frame, std::span<const std::int32_t> ids) {
  std::vector<std::int32_t> all;
  all.reserve(frame.before.size() + ids.size() + frame.behind.size());
  all.insert(all.end(), frame.before.begin(), frame.before.end());
  all.insert(all.end(), ids.begin(), ids.end());
  all.insert(all.end(), frame.behind.begin(), frame.behind.end());
  return all;
}

}  // namespace addnorm
