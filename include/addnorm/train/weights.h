// Weights as other programs read them: model.safetensors and config.json in a folder. docs/file-formats.md has names and layout.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "addnorm/model/model.h"

namespace addnorm {

/// Every parameter and buffer under its path, float32, and the config that makes the model again, with `extra` (a JSON object, or
/// nothing) under "extra". The folder is made where there is none; each file is replaced as a whole. DataError when the system
/// refuses.
void save_model(const std::filesystem::path& folder, Model& model, std::string_view extra = {});

struct LoadOptions {
  bool allow_nonfinite = false;  ///< NaN and infinities among the weights
};

/// The model of a folder. Everything is checked: sizes before anything is allocated, checksums where the file has them, names,
/// shapes, NaN and infinities. A DataError names the file and the tensors.
std::unique_ptr<Model> load_model(const std::filesystem::path& folder, const LoadOptions& options = {});
/// Parameters and buffers of `model` from a file, checked in the same way. Nothing is changed when anything is wrong.
void load_weights(const std::filesystem::path& file, Model& model, const LoadOptions& options = {});

}  // namespace addnorm
