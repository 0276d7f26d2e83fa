// The tokenizers that need no file, made again from what they wrote.
#pragma once

#include <memory>

#include "addnorm/data/tokenizer.h"
#include "data/tokenizer/spec.h"

namespace addnorm {

/// The tokenizer of bytes or of characters that wrote this; null: none of them did.
std::unique_ptr<Tokenizer> builtin_from(const TokenizerSpec& spec);

}  // namespace addnorm
