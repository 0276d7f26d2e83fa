// A text between the tokens that a tokenizer puts around it, for models that were trained with them.
#pragma once

#include <memory>

#include "addnorm/data/dataset.h"
#include "addnorm/data/token_source.h"
#include "addnorm/data/tokenizer.h"

namespace addnorm {

/// frame.before, all ids, frame.behind, as one row.
std::unique_ptr<TokenSource> framed_tokens(std::shared_ptr<const TokenSource> ids, TextFrame frame);

/// For encoders: the text in pieces, each between the frame's tokens and with them at most seq_len long; the last has what is
/// left. ids [n, longest], padded with `pad`; nothing is a label. A frame that leaves no room and no ids are a UsageError.
std::unique_ptr<Dataset> framed_windows(std::shared_ptr<const TokenSource> ids, TextFrame frame, std::size_t seq_len,
                                        std::int32_t pad);

}  // namespace addnorm
