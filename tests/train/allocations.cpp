// T-07: memory that runs out at any moment of training ends in an error, never in a crash, a leak or a file half written.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "addnorm/train/run.h"
#include "core/json.h"
#include "support/failing_new.h"
#include "support/folder.h"
#include "support/training.h"

namespace addnorm {
namespace {

TEST(Allocations, T07EveryOneOfASmallTrainingMayFail) {
  ModelConfig config = test::tiny_config();
  config.layers = 1;
  config.d_model = 4;
  config.seq_len = 4;
  TrainerOptions options = test::tiny_options();
  options.batch_size = 2;
  // Not the snapshot: the JSON library's destructor allocates, and ends the program where it cannot.
  const auto losses = [&] {
    test::SmallRun run(options, config);
    std::vector<double> all(2);
    for (double& loss : all) loss = run.trainer.step().loss;
    return all;
  };
  const auto want = losses();
  std::vector<double> got;
  const std::size_t allocations = test::with_every_allocation_failing<Error>(
      [&] {
        got.clear();
        got = losses();
      },
      [&] { EXPECT_TRUE(got.empty() || got == want); });
  EXPECT_GT(allocations, 500u);
  EXPECT_EQ(got, want);
}

TEST(Allocations, T07ACopyOfAJsonValueIsWholeOrThrows) {
  const std::string word(100, 'x');
  const Json value{{"text", word}, {"list", Json::array({1, word, Json{{"inside", word}}})}, {word, std::vector<double>{1, 2}}};
  Json got;
  const std::size_t allocations = test::with_every_allocation_failing<Error>([&] { got = value; },
                                                                             [&] {
                                                                               EXPECT_TRUE(got.is_null() || got == value);
                                                                               got = nullptr;
                                                                             });
  EXPECT_GE(allocations, 8u);
}

TEST(Allocations, T07AMessageIsWholeOrThrows) {
  const std::string word(1000, 'x'), want = word + "7" + word;
  std::string got;
  const std::size_t allocations = test::with_every_allocation_failing<Error>(
      [&] {
        got.clear();
        got = concat(word, 7, word);
      },
      [&] { EXPECT_TRUE(got.empty() || got == want) << got; });
  EXPECT_GE(allocations, 2u);
}

}  // namespace
}  // namespace addnorm
