// How the weights of a model start, in a few words: the same before a training and in a verdict.
#pragma once

#include <string>

#include "addnorm/model/config.h"

namespace addnorm::cli {

/// "gpt2 weights, W_o and W_2 times 0.5, embeddings 0.02"; "xavier normal weights, embeddings 0.0625, and what the formula of
/// deepnorm contains". `model` is completed.
std::string start_words(const ModelConfig& model);

}  // namespace addnorm::cli
