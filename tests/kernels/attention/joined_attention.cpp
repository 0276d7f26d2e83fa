// Attention of sequences of unequal length that lie one after another.
#include "support/attention_case.h"
#include "support/every_target.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using test::AttentionCase;
using test::AttentionRun;
using test::Layout;

constexpr std::size_t kHeads = 4, kKvHeads = 2, kWidth = 8;
constexpr std::size_t kRow = (kHeads + 2 * kKvHeads) * kWidth, kOut = kHeads * kWidth;

/// Each sequence by itself, and all of them joined.
template <class T>
struct Joined {
  std::vector<AttentionRun<T>> alone;
  std::vector<std::size_t> lengths, first;
  std::size_t longest = 0;
  bool causal;
  std::vector<T> qkv, d_o, o, dqkv, scratch;
  std::vector<double> lse;

  Joined(const std::vector<std::size_t>& given, bool is_causal) : lengths(given), causal(is_causal) {
    for (const std::size_t length : lengths) {
      alone.emplace_back(AttentionCase{.batch = 1,
                                       .heads = kHeads,
                                       .kv_heads = kKvHeads,
                                       .queries = length,
                                       .keys = length,
                                       .layout = Layout::packed,
                                       .causal = causal},
                         10 * alone.size() + 1);
      first.push_back(qkv.size() / kRow);
      longest = std::max(longest, length);
      qkv.insert(qkv.end(), alone.back().qkv.begin(), alone.back().qkv.end());
      d_o.insert(d_o.end(), alone.back().d_o.begin(), alone.back().d_o.end());
    }
    o.assign(d_o.size(), T{99});
    dqkv.assign(qkv.size(), T{99});
    lse.assign(lengths.size() * kHeads * longest, 99);
  }

  template <class U>
  kernels::HeadView<U> view(U* data, std::size_t row) const {
    return {data, 0, row, kWidth, first.data()};
  }
  void run() {
    kernels::BasicAttentionGradArgs<T> g;
    kernels::BasicAttentionArgs<T>& a = g.forward;
    a.batch = lengths.size(), a.heads = kHeads, a.kv_heads = kKvHeads, a.queries = a.keys = longest;
    a.d_head = a.d_value = kWidth;
    a.lengths = lengths.data();
    a.scale = T(0.3), a.causal = causal;
    const T* data = qkv.data();
    a.q = view(data, kRow), a.k = view(data + kHeads * kWidth, kRow), a.v = view(data + (kHeads + kKvHeads) * kWidth, kRow);
    a.o = view(o.data(), kOut);
    a.lse = lse.data();
    if constexpr (std::is_same_v<T, float>) {
      scratch.resize(std::max(kernels::attention_forward_scratch(a), kernels::attention_backward_scratch(a)));
      a.scratch = scratch.data();
    }
    kernels::attention_forward(a);
    g.d_o = view<const T>(d_o.data(), kOut);
    T* grads = dqkv.data();
    g.dq = view(grads, kRow), g.dk = view(grads + kHeads * kWidth, kRow), g.dv = view(grads + (kHeads + kKvHeads) * kWidth, kRow);
    kernels::attention_backward(g);
  }
};

template <class T>
void expect_equal(std::span<const T> got, std::span<const T> want) {
  EXPECT_NEAR_ALL(got, want, test::exact());
}

template <class T>
void expect_as_alone(const std::vector<std::size_t>& lengths, bool causal) {
  Joined<T> joined(lengths, causal);
  joined.run();
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    SCOPED_TRACE(testing::Message() << "sequence " << b << " of " << lengths[b] << " tokens, causal " << causal);
    AttentionRun<T>& one = joined.alone[b].both();
    expect_equal<T>(std::span(joined.o).subspan(joined.first[b] * kOut, one.o.size()), one.o);
    expect_equal<T>(std::span(joined.dqkv).subspan(joined.first[b] * kRow, one.dqkv.size()), one.dqkv);
    for (std::size_t h = 0; h < kHeads; ++h)
      expect_equal<double>(std::span(joined.lse).subspan((b * kHeads + h) * joined.longest, lengths[b]),
                           std::span(one.lse).subspan(h * lengths[b], lengths[b]));
  }
}

class JoinedAttention : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(JoinedAttention);

TEST_P(JoinedAttention, GivesEachSequenceTheBitsItHasAlone) {
  for (const bool causal : {false, true}) {
    expect_as_alone<float>({5, 70, 4, 130, 17}, causal);
    expect_as_alone<float>({64, 64}, causal);
    expect_as_alone<float>({2, 1, 70, 3}, causal);  // few queries are taken one by one
    expect_as_alone<float>({9}, causal);
  }
}

TEST(JoinedAttentionReference, GivesEachSequenceTheBitsItHasAlone) {
  for (const bool causal : {false, true}) expect_as_alone<double>({5, 20, 1, 9}, causal);
}

TEST(JoinedAttention, GivesTheSameBitsForAnyNumberOfThreads) {
  Joined<float> first({100, 3, 65, 20}, false);
  first.run();
  test::with_every_thread_count([&] {
    Joined<float> again({100, 3, 65, 20}, false);
    again.run();
    EXPECT_SAME_BITS(again.o, first.o);
    EXPECT_SAME_BITS(again.dqkv, first.dqkv);
  });
}

}  // namespace
}  // namespace addnorm
