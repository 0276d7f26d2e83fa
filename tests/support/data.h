// Where the shared test data is: real checkpoints, corpora, reference vectors. Too large for the repository.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace addnorm::test {

/// $ADDNORM_TEST_DATA, or shared/data beside the source folder. It need not exist: see ADDNORM_NEEDS_DATA.
inline std::filesystem::path test_data() {
  const char* given = std::getenv("ADDNORM_TEST_DATA");
  return given != nullptr && *given != '\0' ? given : ADDNORM_TEST_DATA_DEFAULT;
}

/// In a test body: goes on only when test_data() holds `relative` ("torch", "onnx/INDEX.tsv"); otherwise the test is
/// skipped, and the message says what to set.
#define ADDNORM_NEEDS_DATA(relative)                                       \
  if (!std::filesystem::exists(::addnorm::test::test_data() / (relative))) \
  GTEST_SKIP() << "skipped: " << ::addnorm::test::test_data() / (relative) \
               << " is absent; set ADDNORM_TEST_DATA to the folder with the test data"

}  // namespace addnorm::test
