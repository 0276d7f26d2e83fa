// A tokenizer that does what a tokenizer.json says.
#pragma once

#include <memory>
#include <string_view>

#include "addnorm/data/tokenizer.h"
#include "data/tokenizer/spec.h"

namespace addnorm {

/// `where`: the file, for messages.
std::unique_ptr<Tokenizer> pipeline_tokenizer(TokenizerSpec spec, std::string_view where);

}  // namespace addnorm
