// Hugging Face's config.json as a ModelConfig: which arrangement, norm and sizes a model of theirs has.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/model/config.h"

namespace addnorm {

/// What a file says about its model, in our terms.
struct HuggingFaceConfig {
  ModelConfig config{};      ///< as the file has it, checked but not completed()
  std::string model_type{};  ///< theirs: "gpt2", "llama", ...
  std::vector<std::string>
      notes{};  ///< what differs there and cannot be expressed here, one sentence each; sizes taken from defaults
  std::vector<std::string> differences{};  ///< those of the notes that change what the model computes, not only its training
  std::vector<std::string> training{};     ///< those that concern training alone
  /// How the model is initialised there, where `config.arrangement` begins otherwise: see with_own_init.
  std::optional<InitOptions> init{};
};

/// A model by its model_type, or where that is missing by its architectures. What the file leaves out has that type's default. A
/// DataError names the place, the field, its value and what is allowed; an unknown type, and what would be another residual
/// stream than ours (cross-attention in a single stack, stacks of unlike layers), is one too.
HuggingFaceConfig hugging_face_config(std::string_view text, std::string_view where);
HuggingFaceConfig read_hugging_face_config(const std::filesystem::path& path);
/// Whether this is such a file: it has a model_type other than ours, or architectures. False for what is no JSON.
bool is_hugging_face_config(std::string_view text);
std::vector<std::string> hugging_face_model_types();  ///< those that are known

/// The config, initialised as theirs.
ModelConfig with_own_init(const HuggingFaceConfig& read);

}  // namespace addnorm
