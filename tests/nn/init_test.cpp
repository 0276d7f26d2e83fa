// Initialisation: drawn from what the rule says, a function of seed and path alone.
#include "addnorm/nn/init.h"

#include <gtest/gtest.h>

#include <cmath>

#include "addnorm/nn/linear.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

struct Two : Module {
  Linear a{64, 96, Role::ffn_in}, b{64, 96, Role::ffn_in};
  bool b_first = false;
  void visit(Visitor& visitor) override {
    if (b_first) visitor.child("b", b);
    visitor.child("a", a);
    if (!b_first) visitor.child("b", b);
  }
};

double mean_square(const Tensor& t) {
  double squares = 0;
  for (const float v : t.values<float>()) squares += static_cast<double>(v) * static_cast<double>(v);
  return squares / static_cast<double>(t.elements());
}

TEST(Initialise, DependsOnSeedAndPathAlone) {
  Two one, other, third;
  other.b_first = true;
  initialise(one, xavier_rule, 7);
  initialise(other, xavier_rule, 7);
  initialise(third, xavier_rule, 8);
  EXPECT_SAME_BITS(one.a.weight().value().values<float>(), other.a.weight().value().values<float>());
  EXPECT_SAME_BITS(one.b.weight().value().values<float>(), other.b.weight().value().values<float>());
  EXPECT_FALSE(test::same_bits(one.a.weight().value().values<float>(), one.b.weight().value().values<float>()));
  EXPECT_FALSE(test::same_bits(one.a.weight().value().values<float>(), third.a.weight().value().values<float>()));
}

TEST(Initialise, DrawsTheSameBitsOnAnyNumberOfThreads) {
  Two one;
  initialise(one, xavier_rule, 7);
  test::with_every_thread_count([&] {
    Two other;
    initialise(other, xavier_rule, 7);
    EXPECT_SAME_BITS(one.a.weight().value().values<float>(), other.a.weight().value().values<float>());
  });
}

TEST(Initialise, DrawsWithTheDeviationThatTheRuleGives) {
  const double wanted = std::sqrt(2.0 / (64 + 96));
  for (const Distribution& from :
       {xavier_uniform(64, 96), xavier_normal(64, 96), normal(wanted), normal(0.5).scaled(wanted / 0.5)}) {
    EXPECT_DOUBLE_EQ(from.deviation(), wanted) << from;
    Two two;
    initialise(
        two, [&](const Parameter&, const Part& part) { return is_matrix(part.role) ? std::optional(from) : std::nullopt; }, 1);
    const Tensor& drawn = two.a.weight().value();
    const double allowance = test::sample_variance_tolerance(drawn.elements()).rtol * wanted * wanted;
    EXPECT_NEAR(mean_square(drawn), wanted * wanted, allowance) << from;
    EXPECT_EQ(mean_square(two.a.bias().value()), 0);
  }
}

TEST(Initialise, GivesEachPartOfAMatrixItsOwn) {
  Linear packed(5, {{Role::q, 0, 2}, {Role::v, 2, 3}});
  initialise(
      packed,
      [](const Parameter&, const Part& part) -> std::optional<Distribution> {
        if (part.role == Role::bias) return std::nullopt;
        return constant(part.role == Role::q ? 1 : 2);
      },
      1);
  const auto w = packed.weight().value().values<float>();
  for (std::size_t i = 0; i < w.size(); ++i) EXPECT_EQ(w[i], i < 10 ? 1.0f : 2.0f) << i;
}

TEST(Distribution, SaysWhatItIs) {
  EXPECT_EQ(concat(normal(0.5)), "N(0, 0.5^2)");
  EXPECT_EQ(concat(xavier_uniform(3, 3)), "U(-1, 1)");
  EXPECT_EQ(concat(constant(1)), "1");
}

}  // namespace
}  // namespace addnorm
