// The tokens at which a checkpoint's text ends. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace addnorm::importing {

/// eos_token_id of generation_config.json, or where that has none of config.json: a number, or a list of them. Ids that the
/// vocabulary does not have (-1: none) cannot be drawn and are left out. Anything else is a DataError that names file and field.
std::vector<std::int32_t> read_end_tokens(const std::filesystem::path& folder, std::size_t vocabulary);

}  // namespace addnorm::importing
