// Runs a test for every arrangement of the catalogue: TEST_P(EveryArrangement, ...). One source of a program says which there
// are:
//   INSTANTIATE_TEST_SUITE_P(Catalogue, EveryArrangement, testing::ValuesIn(arrangement_names()), name_of_test);
#pragma once

#include <gtest/gtest.h>

#include "addnorm/residual/catalogue.h"
#include "support/test_names.h"

namespace addnorm::test {

class EveryArrangement : public testing::TestWithParam<std::string> {};

}  // namespace addnorm::test
