// Which tensor of a file is which of ours: made by accounting, read by import (fill) and export.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "addnorm/model/import.h"
#include "model/import/source.h"
#include "model/import/weights/family.h"

namespace addnorm {

namespace importing {

/// Rows first ... first + rows - 1 of a parameter of ours are a tensor of theirs.
struct Piece {
  std::size_t tensor;  ///< of WeightSource::tensors()
  std::size_t first, rows;
};

/// A parameter, and what it is made of.
struct Placed {
  std::string ours;
  MatrixLayout layout = MatrixLayout::out_in;
  std::vector<Piece> pieces;  ///< a copy's one piece is the whole of it
};

/// Every tensor of the source is in one of these.
struct Accounts {
  std::vector<Placed> placed;       ///< all parameters of the model, in their order
  std::vector<Placed> copies;       ///< tensors that repeat a parameter
  std::vector<std::size_t> unused;  ///< tensors that nothing is computed with
  std::vector<std::string> notes;
};

/// A DataError shows what is missing, what is left over, and shapes that differ. `where` begins it.
Accounts accounts_of(const ImportFamily& family, Model& model, const WeightSource& source, const std::string& where);

/// Reads every tensor straight into the parameter it belongs to, and compares what only repeats one. NaN and infinities are a
/// DataError unless they are allowed.
void fill(Model& model, const WeightSource& source, const Accounts& accounts, bool allow_nonfinite);

}  // namespace importing

struct ImportLayout {
  std::shared_ptr<const importing::WeightSource> source;
  importing::Accounts accounts;
  std::filesystem::path folder;                ///< that it came from
  std::filesystem::path below;                 ///< of it, where the weights are; mostly empty: in the folder itself
  std::vector<std::filesystem::path> modules;  ///< of it, where sentence-transformers has what follows the model
  bool llama2c = false;                        ///< one .bin instead of safetensors
};

}  // namespace addnorm
