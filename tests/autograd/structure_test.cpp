// Ops that move, join, part and reduce: values, gradients in double, refusals.
#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "support/gradients.h"

namespace addnorm {
namespace {

using test::input;
using test::throws_saying;
using Vars = std::vector<Var>;

TEST(Gradients, OfSub) {
  EXPECT_GRADIENTS([](const Vars& in) { return Vars{sub(in[0], in[1])}; }, input({3, 5}, 1), input({3, 5}, 2));
}
TEST(Gradients, OfScale) {
  EXPECT_GRADIENTS([](const Vars& in) { return Vars{scale(in[0], -1.75)}; }, input({3, 5}, 1));
}
TEST(Gradients, OfMulScalar) {
  EXPECT_GRADIENTS([](const Vars& in) { return Vars{mul_scalar(in[0], in[1])}; }, input({3, 5}, 1), input({}, 2));
}
TEST(Gradients, OfMulRow) {
  EXPECT_GRADIENTS([](const Vars& in) { return Vars{mul_row(in[0], in[1])}; }, input({2, 3, 5}, 1), input({5}, 2));
}
TEST(Gradients, OfReshape) {
  EXPECT_GRADIENTS([](const Vars& in) { return Vars{mul(reshape(in[0], {6}), in[1])}; }, input({2, 3}, 1), input({6}, 2));
}
TEST(Gradients, OfSumAndMean) {
  const auto both = [](const Vars& in) { return Vars{sum(in[0]), mean(mul(in[0], in[0]))}; };
  EXPECT_GRADIENTS(both, input({3, 5}, 1));
}
TEST(Gradients, OfConcatAlongEveryAxis) {
  for (const std::ptrdiff_t axis : {0, 1, 2, -1}) {
    Shape other{2, 3, 4};
    other = other.with(axis < 0 ? 2 : static_cast<std::size_t>(axis), 5);
    EXPECT_GRADIENTS(
        [axis](const Vars& in) {
          return Vars{concat({in[0], in[1], in[0]}, axis)};
        },
        input({2, 3, 4}, 1), input(other, 2));
  }
}
TEST(Gradients, OfSplitAlongEveryAxisWithAPartNobodyReads) {
  for (const std::ptrdiff_t axis : {0, 1, 2, -3}) {
    EXPECT_GRADIENTS(
        [axis](const Vars& in) {
          Vars parts = split(in[0], {1, 2, 1}, axis);
          parts.erase(parts.begin() + 1);
          return parts;
        },
        input({4, 4, 4}, 1));
  }
}
TEST(Gradients, OfSegmentMeans) {
  EXPECT_GRADIENTS([](const Vars& in) { return Vars{segment_means(in[0], {1, 3, 2})}; }, input({2, 3, 5}, 1));
}
TEST(SegmentMeans, AreTheMeansOfRunsOfRows) {
  const Var x(Tensor::of({1, 4, 2}, {1, 2, 3, 4, 5, 6, 10, 20}));
  const Var y = segment_means(x, {3, 1});
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  EXPECT_SAME_BITS(y.value().values<float>(), (std::vector<float>{3, 4, 10, 20}));
}
TEST(SegmentMeans, RefuseRunsThatDoNotAddUp) {
  const Var x(Tensor::zeros({4, 2}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { segment_means(x, {3}); }, {"segment_means", "1 rows", "[4, 2]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { segment_means(x, {3, 2}); }, {"segment_means", "run of 2", "1 of 4"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { segment_means(x, {0, 4}); }, {"segment_means", "run of 0"}));
}
TEST(Gradients, OfWeightedSum) {
  EXPECT_GRADIENTS(
      [](const Vars& in) {
        return Vars{weighted_sum({in[0], in[1], in[0]}, in[2])};
      },
      input({3, 5}, 1), input({3, 5}, 2), input({3}, 3));
}

TEST(Concat, PutsPartsOneAfterTheOtherAlongTheAxis) {
  const Var a(Tensor::of({2, 1}, {1, 2})), b(Tensor::of({2, 2}, {3, 4, 5, 6}));
  const Var y = concat({a, b}, 1);
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_SAME_BITS(y.value().values<float>(), (std::vector<float>{1, 3, 4, 2, 5, 6}));
  const Vars parts = split(y, {1, 2}, -1);
  EXPECT_SAME_BITS(parts[0].value().values<float>(), a.value().values<float>());
  EXPECT_SAME_BITS(parts[1].value().values<float>(), b.value().values<float>());
}

TEST(Concat, AcceptsEmptyParts) {
  const Var none(Tensor({0, 3})), x(Tensor::of({1, 3}, {1, 2, 3}));
  EXPECT_SAME_BITS(concat({none, x, none}, 0).value().values<float>(), x.value().values<float>());
  EXPECT_EQ(split(x, {0, 1}, 0)[0].shape(), (Shape{0, 3}));
}

TEST(Structure, RefusesWhatDoesNotFitAndNamesBothShapes) {
  const Var x(Tensor({2, 3})), y(Tensor({2, 4})), one(Tensor({1})), d(Tensor({2, 3}, DType::f64));
  EXPECT_TRUE(throws_saying<UsageError>([&] { sub(x, y); }, {"sub", "[2, 3]", "[2, 4]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { sub(x, d); }, {"sub", "float32", "float64"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { mul_row(x, Var(Tensor({2}))); }, {"mul_row", "[2, 3]", "[2]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { mul_scalar(x, y); }, {"mul_scalar", "[2, 4]", "one element"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { reshape(x, {7}); }, {"reshape", "[2, 3]", "[7]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { concat({x, y}, 0); }, {"concat", "[2, 3]", "[2, 4]", "axis 0"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { concat({x, one}, 0); }, {"concat", "[2, 3]", "[1]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { concat({x, x}, 2); }, {"concat", "axis 2", "[2, 3]", "-2 to 1"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { concat(Vars{}, 0); }, {"concat", "no parts"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { split(x, {1, 3}, 1); }, {"split", "[2, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { split(x, {1, 1}, 1); }, {"split", "add up to 2", "[2, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { weighted_sum({x, x}, one); }, {"weighted_sum", "[1]", "[2]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { weighted_sum({x, y}, Var(Tensor({2}))); }, {"weighted_sum", "[2, 3]", "[2, 4]"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { mean(Var(Tensor(Shape{0, 3}))); }, {"mean", "[0, 3]"}));
}

TEST(Structure, RefusesUndefinedVarsAndNamesOpAndArgument) {
  const Var x(Tensor({2, 3})), v(Tensor({3})), none;
  using Parts = std::initializer_list<std::string>;
  const auto refused = [](auto fn, Parts parts) { return throws_saying<UsageError>(fn, parts); };
  EXPECT_TRUE(refused([&] { add(none, x); }, {"add: a is an undefined Var"}));
  EXPECT_TRUE(refused([&] { add(x, none); }, {"add: b is an undefined Var"}));
  EXPECT_TRUE(refused([&] { sub(none, x); }, {"sub: a is an undefined Var"}));
  EXPECT_TRUE(refused([&] { sub(x, none); }, {"sub: b is an undefined Var"}));
  EXPECT_TRUE(refused([&] { mul(none, x); }, {"mul: a is an undefined Var"}));
  EXPECT_TRUE(refused([&] { mul(x, none); }, {"mul: b is an undefined Var"}));
  EXPECT_TRUE(refused([&] { scale(none, 2); }, {"scale: x is an undefined Var"}));
  EXPECT_TRUE(refused([&] { mul_scalar(none, v); }, {"mul_scalar: x is an undefined Var"}));
  EXPECT_TRUE(refused([&] { mul_scalar(x, none); }, {"mul_scalar: s is an undefined Var"}));
  EXPECT_TRUE(refused([&] { mul_row(none, v); }, {"mul_row: x is an undefined Var"}));
  EXPECT_TRUE(refused([&] { mul_row(x, none); }, {"mul_row: v is an undefined Var"}));
  EXPECT_TRUE(refused([&] { reshape(none, {6}); }, {"reshape: x is an undefined Var"}));
  EXPECT_TRUE(refused([&] { concat({none, x}, 0); }, {"concat: part 0 is an undefined Var"}));
  EXPECT_TRUE(refused([&] { concat({x, none}, 0); }, {"concat: part 1 is an undefined Var"}));
  EXPECT_TRUE(refused([&] { split(none, {2}, 0); }, {"split: x is an undefined Var"}));
  EXPECT_TRUE(refused([&] { sum(none); }, {"sum: x is an undefined Var"}));
  EXPECT_TRUE(refused([&] { mean(none); }, {"mean: x is an undefined Var"}));
  EXPECT_TRUE(refused([&] { weighted_sum({x, none}, v); }, {"weighted_sum: input 1 is an undefined Var"}));
  EXPECT_TRUE(refused([&] { weighted_sum({x}, none); }, {"weighted_sum: weights is an undefined Var"}));
}

}  // namespace
}  // namespace addnorm
