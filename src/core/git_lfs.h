// Pointers of Git LFS: what a clone holds in place of a large file that was not fetched.
#pragma once

#include "core/file.h"

namespace addnorm {

/// A DataError if the file is such a pointer: its size, the size of the file it stands for, and how to fetch that.
/// Larger files than pointers can be are not read.
void refuse_lfs_pointer(const InputFile& file);
/// The same of a text that was read from `path` already.
void refuse_lfs_pointer(const std::filesystem::path& path, std::string_view text);

}  // namespace addnorm
