#include "kernels/gemm/gemm.h"

#include <omp.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>
#include <thread>

#include "kernels/elementwise/activations.h"
#include "support/every_target.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

using kernels::ActivationKind;
using kernels::Gemm;
using kernels::Update;

/// n normal values from a pool that is made once.
std::vector<float> values(std::size_t n, std::size_t seed) {
  static const std::vector<float> pool = test::normal_values(100'003, 1);
  std::vector<float> some(n);
  for (std::size_t i = 0; i < n; ++i) some[i] = pool[(i + seed * 7919) % pool.size()];
  return some;
}

struct Problem {
  std::size_t m, n, k;
  bool transpose_a = false, transpose_b = false;
  std::size_t pad = 0;
  Update update = Update::overwrite;
  bool bias = false;
  float alpha = 1;
  std::optional<ActivationKind> activation{};
};

std::ostream& operator<<(std::ostream& out, const Problem& p) {
  return out << "m " << p.m << " n " << p.n << " k " << p.k << (p.transpose_a ? " A^T" : " A") << (p.transpose_b ? " B^T" : " B")
             << " pad " << p.pad << " update " << static_cast<int>(p.update) << " bias " << p.bias << " alpha " << p.alpha;
}

/// A product with its operands; the padding of C and what lies there are checked to stay.
class Product {
 public:
  explicit Product(const Problem& problem)
      : p_(problem),
        lda_((p_.transpose_a ? p_.m : p_.k) + p_.pad),
        ldb_((p_.transpose_b ? p_.k : p_.n) + p_.pad),
        ldc_(p_.n + p_.pad),
        a_(values((p_.transpose_a ? p_.k : p_.m) * lda_, 1)),
        b_(values((p_.transpose_b ? p_.n : p_.k) * ldb_, 2)),
        bias_(values(p_.n, 3)),
        c_(values(p_.m * ldc_, 4)) {}

  std::vector<float>& a() { return a_; }
  std::vector<float>& b() { return b_; }
  std::vector<float>& c() { return c_; }

  std::vector<float> run() const {
    std::vector<float> c = c_;
    kernels::gemm(args(a_, b_, bias_, c));
    return c;
  }
  std::vector<double> want() const {
    const std::vector<double> a(a_.begin(), a_.end()), b(b_.begin(), b_.end()), bias(bias_.begin(), bias_.end());
    std::vector<double> c(c_.begin(), c_.end());
    kernels::gemm(args(a, b, bias, c));
    return c;
  }

 private:
  template <class T>
  kernels::GemmArgs<T> args(const std::vector<T>& a, const std::vector<T>& b, const std::vector<T>& bias,
                            std::vector<T>& c) const {
    return {.m = p_.m,
            .n = p_.n,
            .k = p_.k,
            .a = a.data(),
            .lda = lda_,
            .transpose_a = p_.transpose_a,
            .b = b.data(),
            .ldb = ldb_,
            .transpose_b = p_.transpose_b,
            .alpha = static_cast<T>(p_.alpha),
            .update = p_.update,
            .bias = p_.bias ? bias.data() : nullptr,
            .activation = p_.activation,
            .c = c.data(),
            .ldc = ldc_};
  }

  Problem p_;
  std::size_t lda_, ldb_, ldc_;
  std::vector<float> a_, b_, bias_, c_;
};

/// Around every size at which the cutting changes: few rows, thin, one block, several blocks and chunks, ragged ends.
std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const auto& [m, n, k] : {std::tuple<std::size_t, std::size_t, std::size_t>{1, 1, 1},
                                {1, 7, 5},
                                {1, 9, 1027},
                                {2, 130, 33},
                                {3, 7, 1100},
                                {3, 9, 40},
                                {4, 64, 64},
                                {5, 129, 17},
                                {47, 130, 50},
                                {48, 16, 16},
                                {49, 31, 400},
                                {97, 385, 33},
                                {130, 40, 385},
                                {257, 33, 20},
                                {64, 40, 800},
                                {200, 1, 20},
                                {512, 20, 30}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) all.push_back({m, n, k, transpose_a, transpose_b, (m + n) % 3});
  return all;
}

class GemmOnEveryTarget : public test::EveryTarget {};
ADDNORM_EVERY_TARGET(GemmOnEveryTarget);

TEST_P(GemmOnEveryTarget, EqualsTheDoubleReferenceInAllFourForms) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(testing::Message() << p);
    const Product product(p);
    EXPECT_NEAR_ALL(std::span<const float>(product.run()), product.want(), test::product_tolerance(p.k));
  }
}

TEST_P(GemmOnEveryTarget, AddsBiasAndScalesAndUpdatesC) {
  for (Problem p : problems())
    for (const Update update : {Update::overwrite, Update::add, Update::accumulate}) {
      p.update = update;
      p.bias = true;
      p.alpha = -0.5f;
      SCOPED_TRACE(testing::Message() << p);
      const Product product(p);
      EXPECT_NEAR_ALL(std::span<const float>(product.run()), product.want(), test::product_tolerance(p.k));
    }
}

TEST_P(GemmOnEveryTarget, AppliesTheActivationLastAndKeepsItsArgument) {
  for (const std::size_t m : {1u, 20u, 70u})
    for (const ActivationKind kind : {ActivationKind::gelu, ActivationKind::gelu_tanh, ActivationKind::relu, ActivationKind::silu,
                                      ActivationKind::sigmoid, ActivationKind::tanh}) {
      constexpr std::size_t kN = 33, kK = 19, kLdPre = 40;
      SCOPED_TRACE(testing::Message() << "m " << m << " kind " << static_cast<int>(kind));
      const auto a = values(m * kK, 1), b = values(kN * kK, 2), bias = values(kN, 3);
      std::vector<float> plain(m * kN), c(m * kN), pre(m * kLdPre, -7.0f), want(m * kN);
      Gemm g{.m = m, .n = kN, .k = kK, .a = a.data(), .b = b.data(), .transpose_b = true, .bias = bias.data(), .c = plain.data()};
      kernels::gemm(g);
      kernels::activate(kind, plain.data(), plain.size(), want.data());
      g.activation = kind;
      g.pre = pre.data();
      g.ldpre = kLdPre;
      g.c = c.data();
      kernels::gemm(g);
      EXPECT_SAME_BITS(c, want);
      for (std::size_t i = 0; i < m; ++i) {
        EXPECT_SAME_BITS(std::span(pre).subspan(i * kLdPre, kN), std::span(plain).subspan(i * kN, kN));
        EXPECT_EQ(pre[i * kLdPre + kN], -7.0f);
      }
    }
}

TEST(Gemm, GivesTheSameBitsForEveryNumberOfThreads) {
  std::vector<Problem> all;
  for (const auto& [m, n, k] : {std::tuple<std::size_t, std::size_t, std::size_t>{2048, 64, 256},
                                {400, 500, 300},
                                {64, 64, 1024},
                                {384, 384, 777},
                                {1, 3000, 384},
                                {4, 1001, 77},
                                {20, 700, 900},
                                {333, 1025, 64},
                                {49, 31, 400}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true})
        all.push_back({m, n, k, transpose_a, transpose_b, 0, transpose_a ? Update::add : Update::overwrite, true});
  for (const Problem& p : all) {
    SCOPED_TRACE(testing::Message() << p);
    const Product product(p);
    std::vector<float> first;
    test::with_every_thread_count([&] {
      const auto c = product.run();
      if (first.empty()) first = c;
      EXPECT_SAME_BITS(c, first);
    });
  }
}

TEST(Gemm, AddIsOneAdditionOfTheRoundedProduct) {
  for (Problem p : problems()) {
    SCOPED_TRACE(testing::Message() << p);
    Product product(p);
    const auto plain = product.run();
    const auto before = product.c();
    p.update = Update::add;
    const auto sum = Product(p).run();
    for (std::size_t i = 0; i < p.m; ++i)
      for (std::size_t j = 0; j < p.n; ++j) {
        const std::size_t at = i * (p.n + p.pad) + j;
        ASSERT_EQ(sum[at], before[at] + plain[at]) << i << ", " << j;
      }
  }
}

TEST(Gemm, OverwritesWhateverCHeldAndLeavesThePaddingAlone) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (Problem p : problems()) {
    SCOPED_TRACE(testing::Message() << p);
    p.pad = 3;
    Product product(p);
    std::ranges::fill(product.c(), kNan);
    const auto c = product.run();
    for (std::size_t i = 0; i < p.m; ++i)
      for (std::size_t j = 0; j < p.n + p.pad; ++j) ASSERT_EQ(std::isnan(c[i * (p.n + p.pad) + j]), j >= p.n) << i << ", " << j;
  }
}

TEST(Gemm, WithNothingToSumGivesZeroOrWhatWasThere) {
  for (const std::size_t m : {1u, 3u, 60u})
    for (const bool transpose_b : {false, true}) {
      Problem p{.m = m, .n = 20, .k = 0, .transpose_b = transpose_b};
      EXPECT_SAME_BITS(Product(p).run(), std::vector<float>(m * 20, 0.0f));
      p.update = Update::add;
      EXPECT_SAME_BITS(Product(p).run(), Product(p).c());
      p.update = Update::accumulate;
      EXPECT_SAME_BITS(Product(p).run(), Product(p).c());
    }
}

TEST(Gemm, WithoutRowsOrColumnsTouchesNothing) {
  EXPECT_TRUE(Product({.m = 0, .n = 5, .k = 3}).run().empty());
  EXPECT_TRUE(Product({.m = 5, .n = 0, .k = 3}).run().empty());
  kernels::gemm(Gemm{.n = 5, .k = 3, .transpose_b = true});
}

TEST(Gemm, CarriesNanAndInfinityThroughZeros) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (Problem p : problems()) {
    if (p.m < 2 || p.n < 2 || p.k < 2) continue;
    SCOPED_TRACE(testing::Message() << p);
    p.pad = 0;
    for (const float bad : {kInf, std::numeric_limits<float>::quiet_NaN()}) {
      Product product(p);
      std::ranges::fill(product.b(), 0.0f);
      product.a()[p.transpose_a ? (p.k - 1) * p.m + 1 : p.k + p.k - 1] = bad;  // row 1, the last of k
      const auto c = product.run();
      for (std::size_t i = 0; i < p.m; ++i)
        for (std::size_t j = 0; j < p.n; ++j) ASSERT_EQ(std::isnan(c[i * p.n + j]), i == 1) << i << ", " << j;
    }
  }
}

TEST(Gemm, OfFewRowsGivesARowTheSameBitsWhateverTheOthersAre) {
  for (const std::size_t k : {77u, 1100u}) {
    const auto all = Product({.m = 4, .n = 99, .k = k, .transpose_b = true}).run();
    for (std::size_t m = 1; m < 4; ++m) {
      const auto some = Product({.m = m, .n = 99, .k = k, .transpose_b = true}).run();
      EXPECT_SAME_BITS(some, std::span(all).first(m * 99));
    }
  }
}

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// CPU time of all threads but this one while body runs, as a share of this one's.
template <class Body>
double share_of_other_threads(Body&& body) {
  const double all = seconds_of(CLOCK_PROCESS_CPUTIME_ID), mine = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  body();
  const double my_time = seconds_of(CLOCK_THREAD_CPUTIME_ID) - mine;
  return (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - all - my_time) / my_time;
}

TEST(Gemm, OnOneThreadUsesOneCoreAndLeavesTheSettingsOfOpenMpAlone) {
  const int before = threads(), openmp_before = omp_get_max_threads();
  omp_set_num_threads(4);  // what oneDNN would take if we let it
  const Product product({.m = 256, .n = 768, .k = 512, .transpose_b = true});
  set_threads(2);
  const auto with_two = product.run();
  set_threads(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // idle workers spin for a while after a parallel region
  std::vector<float> with_one;
  const double others = share_of_other_threads([&] {
    for (int i = 0; i < 20; ++i) with_one = product.run();
  });
  EXPECT_LT(others, 0.1) << "oneDNN woke other threads";
  EXPECT_EQ(omp_get_max_threads(), 4);
  EXPECT_SAME_BITS(with_one, with_two);
  omp_set_num_threads(openmp_before);
  set_threads(before);
}

}  // namespace
}  // namespace addnorm
