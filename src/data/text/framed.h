// Ids between what a tokenizer puts around a text, for models that were trained so.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "addnorm/data/dataset.h"
#include "addnorm/data/text_dataset.h"
#include "addnorm/data/tokenizer.h"

namespace addnorm {

/// frame.before, ids, frame.after. The ids are those of a text, or of as much of one as a model takes.
inline std::vector<std::int32_t> framed(const TextFrame& frame, std::span<const std::int32_t> ids) {
  std::vector<std::int32_t> all;
  all.reserve(frame.before.size() + ids.size() + frame.after.size());
  all.insert(all.end(), frame.before.begin(), frame.before.end());
  all.insert(all.end(), ids.begin(), ids.end());
  all.insert(all.end(), frame.after.begin(), frame.after.end());
  return all;
}

/// frame.before, all ids, frame.after, as one row.
std::unique_ptr<TokenSource> framed_tokens(std::shared_ptr<const TokenSource> ids, TextFrame frame);

/// For encoders: the text in pieces, each between the frame's tokens and with them at most seq_len long; the last has what is
/// left. ids [n, longest], padded with `pad`; nothing is a label. A frame that leaves no room and no ids are a UsageError.
std::unique_ptr<Dataset> framed_windows(std::shared_ptr<const TokenSource> ids, TextFrame frame, std::size_t seq_len,
                                        std::int32_t pad);

}  // namespace addnorm
