// Texts of numbers are those of the C and C++ library, to the last character: outputs and files hold them.
#include "core/figures.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace addnorm {
namespace {

std::string printed(const char* format, int digits, double x) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), format, digits, x);
  return text.data();
}

/// Halves, limits, and numbers of all sizes.
std::vector<double> numbers() {
  using Limits = std::numeric_limits<double>;
  std::vector<double> all{0.0,
                          -0.0,
                          0.5,
                          1.5,
                          2.5,
                          0.125,
                          0.375,
                          9.995,
                          99.95,
                          999.5,
                          999.4999,
                          1000.0,
                          1e6,
                          999999,
                          1e15,
                          1e16,
                          123456,
                          0.0001,
                          0.00009999,
                          Limits::min(),
                          Limits::max(),
                          Limits::denorm_min(),
                          -2.675,
                          1e100,
                          1e-100,
                          0.9999,
                          9.9999,
                          1 / 3.,
                          NAN,
                          -std::nan(""),
                          Limits::infinity(),
                          -Limits::infinity()};
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double size = std::uniform_real_distribution(-12.0, 20.0)(random);
    all.push_back((i % 2 == 0 ? 1 : -1) * std::pow(10.0, size));
  }
  return all;
}

TEST(Figures, AreThoseOfPrintf) {
  for (const double x : numbers())
    for (int digits = 0; digits < 7; ++digits) {
      ASSERT_EQ(fixed(x, digits), printed("%.*f", digits, x));
      ASSERT_EQ(scientific(x, digits), printed("%.*e", digits, x));
      ASSERT_EQ(significant(x, digits + 1), printed("%.*g", digits + 1, x));
    }
}

TEST(Figures, KeepAllDigitsBeforeThePointUpToAMillion) {
  EXPECT_EQ(figure_text(0.0123), "0.0123");
  EXPECT_EQ(figure_text(999.4), "999");
  EXPECT_EQ(figure_text(4077.6), "4078");
  EXPECT_EQ(figure_text(-4077.6), "-4078");
  EXPECT_EQ(figure_text(1e6), "1e+06");
  EXPECT_EQ(figure_text(-std::nan("")), "nan");
}

TEST(Figures, OfARateHaveNoZerosTheyDoNotNeed) {
  EXPECT_EQ(rate_figure(4e-4), "4e-4");
  EXPECT_EQ(rate_figure(2.5e-3), "2.5e-3");
  EXPECT_EQ(rate_figure(1), "1e0");
  EXPECT_EQ(rate_figure(1.234e12), "1.23e12");
  EXPECT_EQ(short_figure(410000), "4.1e+05");
  EXPECT_EQ(loss_figure(2.4251), "2.43");
}

}  // namespace
}  // namespace addnorm
