// The loops that kernels are held against: what they write, how much of it, and which kernel is held against which.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "bench/bench.h"
#include "bench/machine/machine.h"

namespace addnorm::bench {
namespace {

constexpr StoreKind kStoreKinds[] = {StoreKind::regular, StoreKind::streaming};
constexpr std::size_t kBytes = std::size_t{1} << 20;

/// How many different numbers there are, as a share of all.
double variety(std::span<const float> values) {
  std::vector<float> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const auto different = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  return static_cast<double>(different) / static_cast<double>(sorted.size());
}

/// The share of places at which both hold the same.
double in_common(std::span<const float> a, std::span<const float> b) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
  return static_cast<double>(same) / static_cast<double>(a.size());
}

TEST(BenchBuffers, EveryArrayHoldsNumbersOfItsOwnAlsoThoseOfOtherBuffers) {
  constexpr std::size_t kFloats = 50'000;
  Buffers one(3 * kFloats * sizeof(float), 3), other(kFloats * sizeof(float), 1);
  const std::vector<std::span<const float>> arrays = {
      {one.take(kFloats), kFloats}, {one.take(kFloats), kFloats}, {one.take(kFloats), kFloats}, {other.take(kFloats), kFloats}};
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_GT(variety(arrays[i]), 0.99) << i;
    EXPECT_GE(*std::ranges::min_element(arrays[i]), -1);
    EXPECT_LT(*std::ranges::min_element(arrays[i]), -0.999);
    EXPECT_LT(*std::ranges::max_element(arrays[i]), 1);
    EXPECT_GT(*std::ranges::max_element(arrays[i]), 0.999);
    for (std::size_t j = 0; j < i; ++j) EXPECT_LT(in_common(arrays[i], arrays[j]), 1e-3) << i << " and " << j;
  }
}

TEST(BenchLimit, LoopsWriteVariedNumbersToAllThatTheyWrite) {
  for (const Traffic traffic : kTraffics)
    for (const StoreKind stores : kStoreKinds) {
      SCOPED_TRACE(std::string(name_of(traffic)) + ", " + name_of(stores));
      const MemoryLimit loop(traffic, kBytes);
      std::vector<std::vector<float>> before;
      for (const auto values : loop.written()) before.emplace_back(values.begin(), values.end());
      loop.run(stores);
      const auto written = loop.written();
      ASSERT_EQ(written.size(), traffic == Traffic::two_read_two_write ? 2u : 1u);
      for (std::size_t i = 0; i < written.size(); ++i) {
        EXPECT_LT(in_common(written[i], before[i]), 1e-3);
        EXPECT_GT(variety(written[i]), 0.9);
        EXPECT_LT(std::ranges::count(written[i], 0.0f), 10);
      }
      if (written.size() == 2) {
        EXPECT_LT(in_common(written[0], written[1]), 1e-3);
      }
    }
}

TEST(BenchLimit, LoopsComputeWhatTheirTrafficSays) {
  for (const Traffic traffic : kTraffics)
    for (const StoreKind stores : kStoreKinds) {
      SCOPED_TRACE(std::string(name_of(traffic)) + ", " + name_of(stores));
      constexpr std::size_t kFloats = 4096;
      Buffers memory(4 * kFloats * sizeof(float), 4);
      std::vector<float*> a;
      for (std::size_t i = 0; i < arrays_of(traffic); ++i) a.push_back(memory.take(kFloats));
      const std::size_t reads = arrays_of(traffic) - writes_of(traffic);
      move_memory(traffic, stores, a.data(), kFloats);
      for (std::size_t i = 0; i < kFloats; ++i) {
        float sum = a[0][i];
        for (std::size_t k = 1; k < reads; ++k) sum += a[k][i];
        ASSERT_EQ(a[reads][i], sum) << i;
        if (writes_of(traffic) == 2) {
          ASSERT_EQ(a[3][i], a[0][i] - a[1][i]) << i;
        }
      }
    }
}

TEST(BenchLimit, PiecesFollowOneAnotherAndBeginAgainAtTheEnd) {
  MemoryLimit loop(Traffic::two_read_one_write, 3 * 4 * 4096 * sizeof(float));  // arrays of 4 x 4096 floats
  const std::span<const float> written = loop.written()[0];
  std::vector<float> before(written.begin(), written.end());
  const auto changed = [&] {
    std::vector<bool> result;
    for (std::size_t i = 0; i < written.size(); i += 4096)
      result.push_back(in_common(written.subspan(i, 4096), std::span<const float>(before).subspan(i, 4096)) < 0.5);
    return result;
  };
  EXPECT_EQ(loop.run_piece(StoreKind::regular, 4096), 3 * 4096 * sizeof(float));
  EXPECT_EQ(changed(), (std::vector<bool>{true, false, false, false}));
  for (int i = 0; i < 3; ++i) loop.run_piece(StoreKind::regular, 4096);
  EXPECT_EQ(changed(), (std::vector<bool>{true, true, true, true}));
  MemoryLimit uneven(Traffic::copy, 2 * 4 * 4096 * sizeof(float));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(uneven.run_piece(StoreKind::regular, 3 * 4096), 2 * 3 * 4096 * sizeof(float));
  EXPECT_EQ(uneven.run_piece(StoreKind::regular, 5 * 4096), 2 * 4 * 4096 * sizeof(float));
}

TEST(BenchLimit, ANormIsHeldAgainstTheStreamsThatItReadsAndWrites) {
  const std::map<std::string, std::pair<Traffic, std::size_t>> streams = {
      {"add_layer_norm forward", {Traffic::two_read_two_write, 4}},
      {"add_rms_norm backward", {Traffic::three_read_one_write, 4}},
      {"layer_norm forward", {Traffic::copy, 2}},
      {"layer_norm backward", {Traffic::two_read_one_write, 3}}};  // one of each: a workload fills 256 MiB
  std::size_t seen = 0;
  for (const Job& job : norm_jobs()) {
    if (job.shape != std::vector<std::size_t>{4096, 64} || !streams.contains(job.name)) continue;
    SCOPED_TRACE(job.name);
    const Workload w = job.make();
    const auto [traffic, arrays] = streams.at(job.name);
    EXPECT_EQ(w.limit, Limit::traffic);
    EXPECT_EQ(w.traffic, traffic);
    EXPECT_EQ(w.work, static_cast<double>(arrays * 4096 * 64 * sizeof(float)));
    ++seen;
  }
  EXPECT_EQ(seen, streams.size());
}

}  // namespace
}  // namespace addnorm::bench
