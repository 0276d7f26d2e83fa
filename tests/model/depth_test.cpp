// A thousand layers: built, run forward and backward with recompute, in bounded memory.
#include <sys/resource.h>

#include "addnorm/autograd/tape.h"
#include "addnorm/model/language_model.h"
#include "addnorm/residual/catalogue.h"
#include "support/streams/small_models.h"
#include "support/test_names.h"

namespace addnorm {
namespace {

double peak_gib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1024 * 1024);
}

class Depth1000 : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, Depth1000, testing::ValuesIn(arrangement_names()), test::name_of_test);

TEST_P(Depth1000, RunsForwardAndBackwardInFourGibibytes) {
  LanguageModel model({.vocab = 64, .layers = 1000, .d_model = 32, .heads = 2, .seq_len = 64, .arrangement = GetParam()});
  const std::vector<std::int32_t> tokens = test::ids(2 * 64, 64, 1), targets = test::ids(2 * 64, 64, 2);
  const Var loss = cross_entropy(model({.ids = tokens, .batch = 2}, {.train = true, .recompute = true}), targets);
  backward(loss);
  std::size_t with_gradient = 0, all = 0;
  for_each_parameter(model, [&](Parameter& p) {
    ++all;
    if (p.value.grad().defined()) ++with_gradient;
  });
  EXPECT_EQ(with_gradient, all);
  EXPECT_LE(peak_gib(), 4.0);
  RecordProperty("peak_gib", std::to_string(peak_gib()));
}

}  // namespace
}  // namespace addnorm
