#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <vector>

#include "addnorm/core/checked.h"
#include "addnorm/core/parallel.h"
#include "addnorm/core/rng.h"
#include "core/figures.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

TEST(Philox, MatchesThePublishedKnownAnswers) {  // Random123, kat_vectors
  EXPECT_EQ(philox4x32(0, {0, 0, 0, 0}), (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32(0xffffffffffffffff, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32(0x299f31d0a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Shape, RefusesElementCountsThatOverflow) {
  EXPECT_TRUE(test::throws_saying<UsageError>([] { Shape s{4194305, 4194305, 211106198978564}; }, {"4194305"}));
  EXPECT_EQ((Shape{2, 0, 3}.elements()), 0u);
  EXPECT_EQ(Shape{}.elements(), 1u);
}

TEST(Shape, RefusesAnAxisThatIsNotThereAndNamesTheShape) {
  const Shape shape{2, 3};
  EXPECT_EQ(shape[1], 3u);
  EXPECT_EQ(shape.back(), 3u);
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { static_cast<void>(shape[2]); }, {"axis 2", "[2, 3]", "2 axes"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { static_cast<void>(shape[Shape::kMaxRank]); }, {"axis 8", "[2, 3]"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([] { static_cast<void>(Shape{}.back()); }, {"axis 0", "[]", "0 axes"}));
  EXPECT_TRUE(test::throws_saying<UsageError>([&] { static_cast<void>(shape.with(2, 1)); }, {"axis 2", "[2, 3]"}));
}

TEST(Checked, ASizeFromOutsideIsRefusedWhereAddressesAreTooNarrow) {
  constexpr std::uint64_t kOutside = std::uint64_t{1} << 33;
  EXPECT_EQ(checked_size<std::uint64_t>(kOutside), kOutside);
  EXPECT_EQ(checked_size<std::uint32_t>(kOutside), std::nullopt);  // as a size_t of 32 bits
  EXPECT_EQ(checked_size<std::uint32_t>(0xFFFFFFFF), 0xFFFFFFFFu);
  EXPECT_EQ(checked_size<std::uint32_t>(0x100000000), std::nullopt);
}

TEST(Checked, ComputesInTheTypeOfTheFirst) {
  EXPECT_EQ(checked_mul(std::uint64_t{1} << 20, 1u << 20), std::uint64_t{1} << 40);
  EXPECT_EQ(checked_mul(std::uint32_t{1} << 20, 1u << 20), std::nullopt);
  EXPECT_EQ(checked_add(std::uint32_t{0xFFFFFFFF}, 1u), std::nullopt);
  EXPECT_EQ(checked_add(std::uint64_t{0xFFFFFFFF}, 1u), std::uint64_t{0x100000000});
}

TEST(Utc, IsWrittenAsRecordsHaveIt) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(951782399), "2000-02-28T23:59:59Z");
  EXPECT_EQ(utc_text(1709164800), "2024-02-29T00:00:00Z");
  EXPECT_EQ(utc_now().size(), utc_text(0).size());
  EXPECT_EQ(utc_today().size(), 10u);
}

TEST(Bytes, SaysWhatAPersonCanRead) {
  EXPECT_EQ(concat(Bytes{0}), "0 bytes");
  EXPECT_EQ(concat(Bytes{1 << 20}), "1 MiB");
  EXPECT_EQ(concat(Bytes{(1 << 14) - 1}), "16383 bytes");
  EXPECT_EQ(concat(Bytes{1 << 14}), "16 KiB");
  EXPECT_EQ(concat(Bytes{(1 << 20) - 1}), "1024 KiB");
  EXPECT_EQ(concat(Bytes{1.5 * (1 << 30)}), "1.5 GiB");
  EXPECT_EQ(concat(Bytes{123456789}), "118 MiB");
  EXPECT_EQ(concat(Bytes{1023.9 * (1 << 20)}), "1024 MiB");
  EXPECT_EQ(concat(Bytes{0x1p64}), "16 EiB");
  EXPECT_EQ(concat(Bytes{0x1p70}), "1024 EiB");
}

TEST(Dropout, ThresholdIsTheProbabilityAndNothingOutsideOfZeroToOneIsUndefined) {
  EXPECT_EQ(drop_threshold(0.5f), 0x80000000u);
  EXPECT_EQ(drop_threshold(0.0f), 0u);
  EXPECT_EQ(drop_threshold(-0.5f), 0u);
  EXPECT_EQ(drop_threshold(std::numeric_limits<float>::quiet_NaN()), 0u);
  EXPECT_EQ(drop_threshold(1.0f), 0xffffffffu);
  EXPECT_EQ(drop_threshold(std::numeric_limits<float>::infinity()), 0xffffffffu);
}

TEST(Parallel, RefusesThreadCountsThatCannotBe) {
  const int before = threads();
  for (const int count : {0, -1, 1025, std::numeric_limits<int>::max()})
    EXPECT_TRUE(test::throws_saying<UsageError>([&] { set_threads(count); }, {concat("set_threads: ", count), "1 to 1024"}));
  EXPECT_EQ(threads(), before);
}

TEST(Parallel, RefusesBlocksOfNothingAndTakesOnesLargerThanEverything) {
  EXPECT_TRUE(test::throws_saying<UsageError>([] { parallel_ranges(3, 0, [](std::size_t, std::size_t) {}); },
                                              {"parallel_ranges: blocks of 0", "at least 1"}));
  std::size_t covered = 0;
  parallel_ranges(10, std::numeric_limits<std::size_t>::max(),
                  [&](std::size_t begin, std::size_t end) { covered += end - begin; });
  EXPECT_EQ(covered, 10u);
}

TEST(Parallel, BlocksOfRowsHaveAtLeastOneRowAndFewerTheWiderTheyAre) {
  EXPECT_EQ(rows_per_block(0), 16385u);
  EXPECT_EQ(rows_per_block(384), 1 + 16384u / 385);
  EXPECT_EQ(rows_per_block(16384), 1u);
  EXPECT_EQ(rows_per_block(std::numeric_limits<std::size_t>::max()), 1u);
  EXPECT_EQ(rows_per_block(99, 1000), 11u);
}

TEST(Parallel, HandsOutTasksInTheirOrder) {
  const test::RestoreThreads restore;
  set_threads(3);
  std::vector<std::size_t> latest(3, 0);  // per worker, one more than the task it had last
  parallel_tasks(2000, [&](std::size_t task, std::size_t worker) {
    EXPECT_GE(task + 1, latest[worker]);
    latest[worker] = task + 1;
  });
}

TEST(Parallel, WakesOnlyAsManyThreadsAsTheWorkIsWorth) {
  const test::RestoreThreads restore;
  set_threads(3);
  EXPECT_EQ(threads_worth(0), 1u);
  EXPECT_EQ(threads_worth(0x1p18), 1u);
  EXPECT_EQ(threads_worth(0x1p19), 2u);
  EXPECT_EQ(threads_worth(1e30), 3u);
  parallel_tasks(50, 1, [&](std::size_t, std::size_t worker) { EXPECT_EQ(worker, 0u); });
}

TEST(Parallel, RunsEveryBlockExactlyOnceForAnyThreadCount) {
  const test::RestoreThreads restore;
  for (const int count : {1, 2, 3, 4, 7}) {
    set_threads(count);
    std::vector<std::atomic<int>> seen(101);
    parallel_blocks(seen.size(), [&](std::size_t block) { ++seen[block]; });
    for (const auto& times : seen) EXPECT_EQ(times, 1);
  }
}

TEST(Parallel, RunsEveryTaskExactlyOnceAndNeverTwoOfOneWorkerAtOnce) {
  const test::RestoreThreads restore;
  for (const int count : {1, 2, 3, 4, 7}) {
    set_threads(count);
    std::vector<std::atomic<int>> seen(101);
    std::vector<std::atomic<int>> busy(static_cast<std::size_t>(count));
    parallel_tasks(seen.size(), [&](std::size_t task, std::size_t worker) {
      ++seen[task];
      EXPECT_EQ(busy.at(worker)++, 0);
      --busy[worker];
    });
    for (const auto& times : seen) EXPECT_EQ(times, 1);
  }
}

}  // namespace
}  // namespace addnorm
