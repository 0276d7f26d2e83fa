// Every option of the fused Add & Norm: the float kernel against the reference loops in double.
#include <cmath>

#include "addnorm/core/rng.h"
#include "kernels/reference/add_norm.h"
#include "support/every_target.h"
#include "support/norms/norm_case.h"

namespace addnorm {
namespace {

using kernels::NormKind;
using test::uniform_values;

class AddNormOptions : public test::EveryTargetOnOneThread {};
ADDNORM_EVERY_TARGET(AddNormOptions);

enum class Kind { one, scalar, per_feature };

struct Options {
  bool layer = true;
  Kind a = Kind::one, b = Kind::one;
  float p = 0;
  bool one_plus = false;
  EpsPlace place = EpsPlace::inside_root;
  bool with_dy = true, with_dsum = true;

  std::string text() const {
    return concat(layer ? "layer" : "rms", " a ", static_cast<int>(a), " b ", static_cast<int>(b), " p ", p,
                  one_plus ? " 1+w" : "", place == EpsPlace::outside_root ? " eps outside" : "", with_dy ? " dy" : "",
                  with_dsum ? " dsum" : "");
  }
};

/// Inputs and results in T; the float values, so that both precisions start from the same numbers.
template <class T>
struct Problem {
  static constexpr std::size_t kRows = 70, kWidth = 21;
  static std::vector<T> input(std::size_t n, std::uint64_t seed, double mean = 0) {
    const auto values = uniform_values(n, seed, mean, 0.5);
    return {values.begin(), values.end()};
  }
  std::vector<T> x = input(kRows * kWidth, 1), f = input(kRows * kWidth, 2, 0.5), gamma = input(kWidth, 3, 1),
                 beta = input(kWidth, 4);
  std::vector<T> a = input(kWidth, 5, 1), b = input(kWidth, 6, -1), dy = input(kRows * kWidth, 7),
                 dsum = input(kRows * kWidth, 8);
  std::vector<T> sum = std::vector<T>(kRows * kWidth), y = sum, dx = sum, df = sum;
  std::vector<T> rstd = std::vector<T>(kRows), dgamma = std::vector<T>(kWidth), dbeta = dgamma, da, db;
  std::vector<double> mean = std::vector<double>(kRows);

  Coefficient<T> coefficient(Kind kind, const std::vector<T>& values, T scalar) const {
    if (kind == Kind::per_feature) return {T{1}, values.data()};
    return {kind == Kind::scalar ? scalar : T{1}, nullptr};
  }

  /// The options that forward and backward share.
  template <class Args>
  Args with_options(Args n, const Options& o) {
    n.rows = kRows;
    n.width = kWidth;
    n.x = x.data();
    n.f = f.data();
    n.gamma = gamma.data();
    n.gain_is_one_plus_gamma = o.one_plus;
    n.a = coefficient(o.a, a, static_cast<T>(1.5f));
    n.b = coefficient(o.b, b, static_cast<T>(-0.75f));
    n.dropout = {.p = o.p, .key = 41, .first_row = 12};
    n.eps = static_cast<T>(0.25f);
    n.eps_place = o.place;
    n.mean = o.layer ? mean.data() : nullptr;
    n.rstd = rstd.data();
    return n;
  }

  template <class Forward, class Backward>
  void run(const Options& o, const Forward& forward, const Backward& backward) {
    da.resize(o.a == Kind::per_feature ? kWidth : 1);
    db.resize(o.b == Kind::per_feature ? kWidth : 1);
    forward(with_options(AddNormArgs<T>{.beta = beta.data(), .sum = sum.data(), .y = y.data()}, o));
    backward(with_options(AddNormGradArgs<T>{.dy = o.with_dy ? dy.data() : nullptr,
                                             .dsum = o.with_dsum ? dsum.data() : nullptr,
                                             .sum = sum.data(),
                                             .dx = dx.data(),
                                             .df = df.data(),
                                             .dgamma = dgamma.data(),
                                             .dbeta = dbeta.data(),
                                             .da = da.data(),
                                             .db = db.data()},
                          o));
  }
};

void expect_kernel_matches_reference(const Options& o) {
  SCOPED_TRACE(o.text());
  Problem<float> got;
  Problem<double> want;
  got.run(
      o, [&](const AddNorm& n) { o.layer ? add_layer_norm(n) : add_rms_norm(n); },
      [&](const AddNormGrad& n) { o.layer ? add_layer_norm_grad(n) : add_rms_norm_grad(n); });
  const NormKind kind = o.layer ? NormKind::layer : NormKind::rms;
  want.run(
      o, [&](const auto& n) { kernels::reference::add_norm(kind, n); },
      [&](const auto& n) { kernels::reference::add_norm_grad(kind, n); });

  const std::size_t rows = Problem<float>::kRows, all = rows * Problem<float>::kWidth;
  EXPECT_NEAR_ALL(got.sum, want.sum, test::elementwise_tolerance());
  EXPECT_NEAR_ALL(got.rstd, want.rstd, test::gradient_tolerance());
  if (o.layer) {
    EXPECT_NEAR_ALL(got.mean, want.mean, test::gradient_tolerance());
  }
  EXPECT_NEAR_ALL(got.y, want.y, test::gradient_tolerance());
  EXPECT_NEAR_ALL(got.dx, want.dx, test::gradient_tolerance());
  EXPECT_NEAR_ALL(got.df, want.df, test::gradient_tolerance());
  EXPECT_NEAR_ALL(got.dgamma, want.dgamma, test::reduction_tolerance(rows));
  EXPECT_NEAR_ALL(got.dbeta, want.dbeta, test::reduction_tolerance(rows));
  EXPECT_NEAR_ALL(got.da, want.da, test::reduction_tolerance(o.a == Kind::per_feature ? rows : all));
  EXPECT_NEAR_ALL(got.db, want.db, test::reduction_tolerance(o.b == Kind::per_feature ? rows : all));
}

TEST_P(AddNormOptions, EveryCombinationMatchesTheReferenceLoopsInDouble) {
  for (const bool layer : {true, false})
    for (const Kind a : {Kind::one, Kind::scalar, Kind::per_feature})
      for (const Kind b : {Kind::one, Kind::scalar, Kind::per_feature})
        for (const float p : {0.0f, 0.3f})
          for (const bool one_plus : {false, true})
            for (const EpsPlace place : {EpsPlace::inside_root, EpsPlace::outside_root})
              for (const int arriving : {1, 2, 3})
                if (!layer || place == EpsPlace::inside_root)
                  expect_kernel_matches_reference({layer, a, b, p, one_plus, place, (arriving & 1) != 0, (arriving & 2) != 0});
}

TEST_P(AddNormOptions, TheMaskIsTheOneOfRandomWordAndKeepsTheStatedShare) {
  constexpr std::size_t kRows = 300, kWidth = 101;
  constexpr float kP = 0.3f;
  const DropoutSpec dropout{.p = kP, .key = RandomKey(5).with("site").bits(), .first_row = 0xffffff80u};  // rows cross 2^32
  const std::vector<float> zeros(kRows * kWidth), ones(kRows * kWidth, 1.0f);
  std::vector<float> sum(kRows * kWidth), y(sum), df(sum), rstd(kRows);
  add_rms_norm({.rows = kRows,
                .width = kWidth,
                .x = zeros.data(),
                .f = ones.data(),
                .dropout = dropout,
                .sum = sum.data(),
                .y = y.data(),
                .rstd = rstd.data()});
  add_rms_norm_grad({.rows = kRows, .width = kWidth, .dsum = ones.data(), .dropout = dropout, .df = df.data()});
  std::size_t kept = 0;
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t i = 0; i < kWidth; ++i) {
      const bool keep = random_word(dropout.key, dropout.first_row + r, static_cast<std::uint32_t>(i)) >= drop_threshold(kP);
      const float want = keep ? static_cast<float>(keep_scale(kP)) : 0.0f;
      ASSERT_EQ(sum[r * kWidth + i], want) << "row " << r << " column " << i;
      ASSERT_EQ(df[r * kWidth + i], want) << "row " << r << " column " << i;
      kept += keep;
    }
  const double n = kRows * kWidth, five_deviations = 5 * std::sqrt(n * 0.3 * 0.7);
  EXPECT_NEAR(static_cast<double>(kept), 0.7 * n, five_deviations);
}

TEST_P(AddNormOptions, ADroppedNaNIsGone) {
  const std::vector<float> x{1.0f, 2.0f};
  for (std::uint64_t key = 0; key < 40; ++key) {
    const DropoutSpec dropout{.p = 0.5f, .key = key};
    const std::vector<float> f{random_word(key, 0, 0) < drop_threshold(0.5f) ? std::nanf("") : 1.0f, 1.0f};
    std::vector<float> sum(2);
    add_layer_norm({.rows = 1, .width = 2, .x = x.data(), .f = f.data(), .dropout = dropout, .sum = sum.data()});
    EXPECT_TRUE(std::isfinite(sum[0]));
  }
}

TEST(AddNormReference, ADroppedNaNIsGoneForwardAndBackwardInDouble) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x{1, 2, 3};
  std::size_t dropped = 0;
  for (std::uint64_t key = 0; key < 40; ++key) {
    const DropoutSpec dropout{.p = 0.5f, .key = key};
    if (random_word(key, 0, 0) >= drop_threshold(0.5f)) continue;
    ++dropped;
    const std::vector<double> f{nan, 1, 1}, dsum{nan, 1, 1};
    std::vector<double> sum(3), y(3), rstd(1), mean(1), df(3), db(1);
    const AddNormArgs<double> forward{.rows = 1,
                                      .width = 3,
                                      .x = x.data(),
                                      .f = f.data(),
                                      .b = {-1.0},
                                      .dropout = dropout,
                                      .sum = sum.data(),
                                      .y = y.data(),
                                      .mean = mean.data(),
                                      .rstd = rstd.data()};
    kernels::reference::add_norm(NormKind::layer, forward);
    EXPECT_EQ(sum[0], 1);
    for (const double v : y) EXPECT_TRUE(std::isfinite(v));
    const std::vector<double> ones(3, 1.0);
    AddNormGradArgs<double> grad{.rows = 1, .width = 3, .dsum = dsum.data(), .dropout = dropout, .df = df.data()};
    kernels::reference::add_norm_grad(NormKind::layer, grad);
    EXPECT_EQ(df[0], 0);  // a NaN that arrives at a dropped element does not get through
    EXPECT_FALSE(std::signbit(df[0]));
    grad = {.rows = 1, .width = 3, .dsum = ones.data(), .dropout = dropout, .f = f.data(), .db = db.data()};
    kernels::reference::add_norm_grad(NormKind::layer, grad);
    EXPECT_TRUE(std::isfinite(db[0]));
  }
  EXPECT_GT(dropped, 5u);
}

TEST_P(AddNormOptions, LeavingOutputsOutChangesNoBitOfTheOthers) {
  for (const bool layer : {true, false})
    for (const bool scaled : {true, false}) {
      test::NormCase c(70, 37), part(70, 37);
      c.layer = part.layer = layer;
      std::vector<float> df(c.x.size()), da(1), db(1), part_df(c.x.size());
      AddNorm forward = c.forward_args();
      AddNormGrad backward = c.backward_args();
      backward.df = df.data(), backward.x = c.x.data(), backward.f = c.f.data(), backward.da = da.data(), backward.db = db.data();
      if (scaled) forward.a = backward.a = {0.5f}, forward.b = backward.b = {3.0f};
      c.forward(forward);
      c.backward(backward);

      AddNorm only = forward;
      only.y = part.y.data();
      only.sum = nullptr, only.mean = nullptr, only.rstd = nullptr;
      part.forward(only);
      EXPECT_SAME_BITS(part.y, c.y);
      only.y = nullptr, only.sum = part.sum.data();
      part.forward(only);
      EXPECT_SAME_BITS(part.sum, c.sum);

      AddNormGrad one = backward;
      one.dx = one.df = one.dgamma = one.dbeta = one.da = one.db = nullptr;
      one.dx = part.dx.data();
      part.backward(one);
      EXPECT_SAME_BITS(part.dx, c.dx);
      one.dx = nullptr, one.df = part_df.data();
      part.backward(one);
      EXPECT_SAME_BITS(part_df, df);
      one.df = nullptr, one.dgamma = part.dgamma.data();
      part.backward(one);
      EXPECT_SAME_BITS(part.dgamma, c.dgamma);
    }
}

}  // namespace
}  // namespace addnorm
