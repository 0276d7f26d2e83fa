// Dropout by counter inside vector kernels: the words of core/rng.h, random_word(key, row, column), a vector at a time.
//
// A vector holds whole Philox counters side by side, four lanes each: [c0 c1 c2 c3]. One widening product of the even
// lanes gives [lo0 hi0 lo1 hi1]; a round's result [hi1^c1^k0, lo1, hi0^c3^k1, lo0] is that product reversed, xor the
// old counter moved down by one lane, xor the key. After ten rounds lane i holds the word of column + i: no transpose.

#include <cstddef>
#include <cstdint>

#include "addnorm/core/rng.h"
#include "hwy/highway.h"

#ifndef ADDNORM_KERNELS_PHILOX_PLAIN_
#define ADDNORM_KERNELS_PHILOX_PLAIN_
namespace addnorm::kernels {

/// Everything about one dropout site that does not depend on the element. Make it once per call, outside the loops.
struct DropoutKeys {
  std::uint64_t key;
  std::uint32_t threshold;  // a word below it is dropped
  float scale;              // of what is kept
  alignas(16) std::uint32_t round_keys[10][4];

  DropoutKeys(std::uint64_t key_bits, float p)
      : key(key_bits), threshold(drop_threshold(p)), scale(static_cast<float>(keep_scale(p))) {
    auto k0 = static_cast<std::uint32_t>(key_bits);
    auto k1 = static_cast<std::uint32_t>(key_bits >> 32);
    for (auto& round : round_keys) {
      round[0] = k0;
      round[1] = 0;
      round[2] = k1;
      round[3] = 0;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
  }
};

}  // namespace addnorm::kernels
#endif  // ADDNORM_KERNELS_PHILOX_PLAIN_

#if defined(ADDNORM_KERNELS_PHILOX_INL_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_PHILOX_INL_
#undef ADDNORM_KERNELS_PHILOX_INL_
#else
#define ADDNORM_KERNELS_PHILOX_INL_
#endif

HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lane i: random_word(keys.key, row, column + i). `column` is a multiple of 4 unless the vector has fewer than four lanes.
template <class DU>
requires(hn::MaxLanes(DU()) < 4) HWY_INLINE hn::Vec<DU> random_words(DU d, const DropoutKeys& keys, std::uint64_t row,
                                                                     std::size_t column) {
  HWY_ALIGN std::uint32_t words[4] = {};
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) words[i] = random_word(keys.key, row, static_cast<std::uint32_t>(column + i));
  return hn::Load(d, words);
}

#if HWY_TARGET != HWY_SCALAR
template <class DU>
requires(hn::MaxLanes(DU()) >= 4) HWY_INLINE hn::Vec<DU> random_words(DU d, const DropoutKeys& keys, std::uint64_t row,
                                                                      std::size_t column) {
  const hn::RepartitionToWide<DU> d64;
  alignas(16) static constexpr std::uint32_t kMultipliers[4] = {0xD2511F53u, 0, 0xCD9E8D57u, 0};
  const auto multipliers = hn::LoadDup128(d, kMultipliers);
  // Made of broadcasts: four scalar stores and one vector load would wait for each other, element after element.
  const auto lane = hn::Iota(d, 0), word = hn::And(lane, hn::Set(d, 3u));
  const auto at = [=](std::uint32_t index, hn::Vec<DU> value)
                      HWY_ATTR { return hn::IfThenElseZero(hn::Eq(word, hn::Set(d, index)), value); };
  const auto of_row =
      hn::Or(at(1, hn::Set(d, static_cast<std::uint32_t>(row))), at(2, hn::Set(d, static_cast<std::uint32_t>(row >> 32))));
  const auto block = hn::Add(hn::Set(d, static_cast<std::uint32_t>(column / 4)), hn::ShiftRight<2>(lane));
  auto counter = hn::Or(of_row, at(0, block));
  for (const auto& key : keys.round_keys) {
    const auto product = hn::BitCast(d, hn::MulEven(counter, multipliers));
    const auto moved = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, counter)));
    counter = hn::Xor(hn::Shuffle0123(product), hn::Xor(moved, hn::LoadDup128(d, key)));
  }
  return counter;
}
#endif

/// True where column + i of the row is kept.
template <class D>
HWY_INLINE hn::Mask<D> dropout_keeps(D d, const DropoutKeys& keys, std::uint64_t row, std::size_t column) {
  const hn::RebindToUnsigned<D> du;
  return hn::RebindMask(d, hn::Not(hn::Lt(random_words(du, keys, row, column), hn::Set(du, keys.threshold))));
}

/// v scaled where kept, +0 where dropped (a dropped NaN vanishes: as if the element were not read).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V apply_dropout(D d, const DropoutKeys& keys, std::uint64_t row, std::size_t column, V v) {
  return hn::IfThenElseZero(dropout_keeps(d, keys, row, column), hn::Mul(v, hn::Set(d, keys.scale)));
}

}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // include guard per target
