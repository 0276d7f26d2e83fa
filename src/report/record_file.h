// Files of records: one JSON value, or one per line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "core/json.h"

namespace addnorm {

/// All of a file, up to half a gibibyte. DataError, with the file.
std::string record_text(const std::filesystem::path& file);

/// Calls `take` with every line that is JSON, in order; the file is read piece by piece. Lines that are not, and a last one that
/// is being written, are left out; returns how many were broken, the last one not counted. A line longer than 64 MiB is a
/// DataError, and so is a file that cannot be read.
std::size_t each_record(const std::filesystem::path& file, const std::function<void(const Json& record)>& take);

/// The last part of a path, also of "runs/lab/", "." and "..".
std::string last_part(const std::filesystem::path& path);

}  // namespace addnorm
