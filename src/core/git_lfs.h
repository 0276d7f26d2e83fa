// Pointers of Git LFS: what lies in a clone in place of a large file that was not fetched.
#pragma once

#include "core/file.h"

namespace addnorm {

/// A DataError where the file is such a pointer: of how many bytes, for how many it stands, and how the file itself is fetched.
/// Larger files than pointers can be are not read.
void refuse_lfs_pointer(const InputFile& file);
/// The same of a text that was read from `path` already.
void refuse_lfs_pointer(const std::filesystem::path& path, std::string_view text);

}  // namespace addnorm
