// Names of parametrised tests: GoogleTest wants letters, digits and underscores.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace addnorm::test {

/// "pre-ln" becomes "pre_ln": for INSTANTIATE_TEST_SUITE_P over names.
inline std::string name_of_test(const testing::TestParamInfo<std::string>& test) {
  std::string name = test.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

}  // namespace addnorm::test
