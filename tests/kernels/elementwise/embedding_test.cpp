#include "kernels/elementwise/embedding.h"

#include <cmath>
#include <limits>

#include "support/every_target.h"
#include "support/faults/guarded.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::Guarded;
using test::normal_values;

class Embedding : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(Embedding);

TEST_P(Embedding, EqualsTheReferenceBitForBitAtEveryWidth) {
  const std::vector<std::int32_t> ids{3, 0, 3, 3, 4, 0, 3};
  for (const std::size_t width : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 11u, 15u, 16u, 17u, 31u, 32u, 33u, 65u}) {
    for (const test::Edge edge : test::kEdges) {
      const Guarded<float> table(normal_values(5 * width, 1), edge), dy(normal_values(ids.size() * width, 2), edge);
      const Guarded<std::int32_t> guarded_ids(ids, edge);
      Guarded<float> y(dy.size(), edge), dtable(table.size(), edge);
      std::vector<float> want(y.size()), want_table(table.size());
      kernels::embedding(table.data(), guarded_ids.data(), ids.size(), width, y.data());
      kernels::reference::embedding(table.data(), ids.data(), ids.size(), width, want.data());
      EXPECT_SAME_BITS(y, want);
      kernels::embedding_grad(dy.data(), guarded_ids.data(), ids.size(), width, 5, dtable.data());
      kernels::reference::embedding_grad(dy.data(), ids.data(), ids.size(), width, 5, want_table.data());
      EXPECT_SAME_BITS(dtable, want_table);
    }
  }
}

TEST(EmbeddingGradient, HasTheSameBitsForAnyThreadCountHoweverIdsRepeat) {
  const std::size_t count = 500, width = 100, vocabulary = 40;
  const auto dy = normal_values(count * width, 3);
  for (const std::size_t distinct : {std::size_t{1}, std::size_t{7}, vocabulary}) {
    std::vector<std::int32_t> ids(count);
    for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::int32_t>(i * i % distinct);
    std::vector<float> want(vocabulary * width), got(vocabulary * width);
    kernels::reference::embedding_grad(dy.data(), ids.data(), count, width, vocabulary, want.data());
    test::with_every_thread_count([&] {
      kernels::embedding_grad(dy.data(), ids.data(), count, width, vocabulary, got.data());
      EXPECT_SAME_BITS(got, want);
    });
  }
}

TEST(EmbeddingGradient, OfNoPositionsIsZeroAndNaNStaysInItsRow) {
  std::vector<float> dtable(6, 5.0f);
  kernels::embedding_grad(static_cast<const float*>(nullptr), nullptr, 0, 2, 3, dtable.data());
  EXPECT_SAME_BITS(dtable, std::vector<float>(6, 0.0f));
  const std::vector<float> dy{std::numeric_limits<float>::quiet_NaN(), 1, 2, 3};
  const std::vector<std::int32_t> ids{1, 2};
  kernels::embedding_grad(dy.data(), ids.data(), 2, 2, 3, dtable.data());
  EXPECT_TRUE(std::isnan(dtable[2]));
  EXPECT_SAME_BITS(std::span(dtable).last(3), (std::vector<float>{1, 2, 3}));
}

}  // namespace
}  // namespace addnorm
