// What belongs to a model beside its weights: copied by export, which goes into no folder where another model's would be in the
// way.
#pragma once

#include <filesystem>
#include <vector>

namespace addnorm::importing {

/// Weights and what belongs to them in `to` that would not be replaced by `weights` (their names count) and what is beside them
/// in `from`: a later import would read it in their place, or with them. A DataError names the first; nothing is removed.
void refuse_other_models(const std::filesystem::path& from, const std::filesystem::path& to,
                         const std::vector<std::filesystem::path>& weights);

/// config.json, tokenizers and the like, where they are there.
void copy_side_files(const std::filesystem::path& from, const std::filesystem::path& to);
/// That alone, of a module of sentence-transformers.
void copy_config(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace addnorm::importing
