// A family of checkpoints as a table: their names of tensors, ours, and how they lie.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/model/config.h"

namespace addnorm::importing {

class WeightSource;

/// How a matrix of theirs lies in the file.
enum class MatrixLayout : unsigned char {
  out_in,  ///< [out, in], as here
  in_out,  ///< [in, out]: GPT-2's Conv1D
};

/// One of our modules, and which of theirs stand below each other in it. Each line is for a weight and a bias, as many of them as
/// our module has (theirs may be called gamma and beta). A name of ours that ends in .weight or .bias is that tensor alone.
///   {}  the number of the layer
///   *   in the name of a norm of ours: in, post or out, whichever the arrangement has
struct NameRow {
  const char* ours;
  std::array<const char*, 3> theirs;
  MatrixLayout layout = MatrixLayout::out_in;
};

/// A tensor of theirs that repeats one of ours, and must be equal to it.
struct CopyRow {
  const char* theirs;
  const char* ours;
};

/// A tensor that the model here does not compute with, and why.
struct UnusedRow {
  const char* theirs;
  const char* why;  ///< null: it carries nothing that is not known anyway (a mask, a list of positions)
};

struct ImportFamily {
  const char* name;
  std::span<const char* const> model_types;  ///< of config.json; none for files without one
  std::span<const char* const> prefixes;     ///< what may stand before the names of `body`; the first is the usual one
  std::span<const NameRow> body;
  std::span<const NameRow> top;  ///< without prefix: heads
  std::span<const CopyRow> copies;
  std::span<const UnusedRow> unused;  ///< after a prefix or without
};

const ImportFamily& gpt2_family();
const ImportFamily& mingpt_family();
const ImportFamily& bert_family();
const ImportFamily& roberta_family();
const ImportFamily& distilbert_family();
const ImportFamily& llama_family();
const ImportFamily& olmo2_family();
const ImportFamily& opt_family();
const ImportFamily& llama2c_family();
const ImportFamily& open_nmt_family();

/// Weights without a config.json: their names and shapes show what model they belong to.
struct GuessedConfig {
  const ImportFamily* family;
  ModelConfig config;
  std::vector<std::string> notes;  ///< what names and shapes do not say
};
/// Nothing: the names are of no family that is known without a config. `heads` 0: what models of that size have; a DataError
/// where that is not known.
std::optional<GuessedConfig> guessed_config(const WeightSource& source, std::size_t heads);

}  // namespace addnorm::importing
