// A second opinion: accepts exactly the safetensors files that docs/file-formats.md says are read. Written without the
// parser, the arithmetic helpers and the sorting of the library, and without any thought for speed.
#pragma once

#include <string_view>

namespace addnorm::test {

bool oracle_accepts(std::string_view file);

}  // namespace addnorm::test
