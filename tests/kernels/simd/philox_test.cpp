// The vector form of the random words against core/rng.h, on every instruction set.
#include <vector>

#include "support/every_target.h"
#include "support/near.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/philox_test.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/simd/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE void fill(D d, std::uint64_t key, std::uint64_t row, std::size_t column, std::vector<std::uint32_t>& words) {
  const kernels::DropoutKeys keys(key, 0.5f);
  words.assign(hn::Lanes(d), 0);
  hn::StoreU(kernels::HWY_NAMESPACE::random_words(d, keys, row, column), d, words.data());
}
void full_words(std::uint64_t key, std::uint64_t row, std::size_t column, std::vector<std::uint32_t>& words) {
  fill(hn::ScalableTag<std::uint32_t>(), key, row, column, words);
}
void one_word(std::uint64_t key, std::uint64_t row, std::size_t column, std::vector<std::uint32_t>& words) {
  fill(hn::CappedTag<std::uint32_t, 1>(), key, row, column, words);
}
void dropped(std::uint64_t key, float p, std::uint64_t row, std::size_t column, std::vector<float>& values) {
  const hn::ScalableTag<float> d;
  const kernels::DropoutKeys keys(key, p);
  values.assign(hn::Lanes(d), 0);
  hn::StoreU(kernels::HWY_NAMESPACE::apply_dropout(d, keys, row, column, hn::Set(d, 3.0f)), d, values.data());
}

}  // namespace
}  // namespace addnorm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace addnorm {
namespace {

HWY_EXPORT(full_words);
HWY_EXPORT(one_word);
HWY_EXPORT(dropped);

class PhiloxVectors : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(PhiloxVectors);

constexpr std::uint64_t kKey = 0x299f31d0a4093822;

TEST_P(PhiloxVectors, HoldTheWordsOfCoreRngInColumnOrder) {
  for (const std::uint64_t row : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{0x123456789abcdef0}}) {
    for (const std::size_t column : {0u, 4u, 12u, 1024u, 4000000000u}) {
      std::vector<std::uint32_t> words;
      HWY_DYNAMIC_DISPATCH(full_words)(kKey, row, column, words);
      for (std::size_t i = 0; i < words.size(); ++i)
        EXPECT_EQ(words[i], random_word(kKey, row, static_cast<std::uint32_t>(column + i))) << row << " " << column + i;
      HWY_DYNAMIC_DISPATCH(one_word)(kKey, row, column + 3, words);
      EXPECT_EQ(words[0], random_word(kKey, row, static_cast<std::uint32_t>(column + 3)));
    }
  }
}

TEST_P(PhiloxVectors, KeepAndScaleWhatLiesAboveTheThreshold) {
  const float p = 0.3f;
  for (std::uint64_t row = 0; row < 50; ++row) {
    std::vector<float> values;
    HWY_DYNAMIC_DISPATCH(dropped)(kKey, p, row, 16, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool keep = random_word(kKey, row, static_cast<std::uint32_t>(16 + i)) >= drop_threshold(p);
      EXPECT_EQ(values[i], keep ? 3.0f * static_cast<float>(keep_scale(p)) : 0.0f);
    }
  }
}

}  // namespace
}  // namespace addnorm
#endif
