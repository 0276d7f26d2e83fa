// Tensor: what it holds, who shares it, and every refusal.
#include "addnorm/tensor/tensor.h"

#include "addnorm/tensor/arena.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::throws_saying;

template <class T>
concept HasDType = requires {
  dtype_of<T>;
};
static_assert(HasDType<float> && HasDType<double>);
static_assert(!HasDType<int> && !HasDType<long double> && !HasDType<const float>, "a Tensor holds float or double, nothing else");
static_assert(dtype_of<float> == DType::f32 && dtype_of<double> == DType::f64);

template <class T>
concept Readable = requires(const Tensor t) {
  t.data<T>();
  t.values<T>();
};
static_assert(Readable<float> && Readable<double> && !Readable<int>);

TEST(Tensor, HoldsTheValuesItWasGiven) {
  const std::vector<double> doubles{1.5, 2.5};
  const std::vector<float> floats{3.5f, 4.5f};
  EXPECT_SAME_BITS(Tensor::of({2}, floats).values<float>(), floats);
  EXPECT_EQ(Tensor::of({2}, doubles).dtype(), DType::f64);
  EXPECT_EQ(Tensor::of({2}, doubles).values<double>()[1], 2.5);
  EXPECT_SAME_BITS(Tensor::zeros({2}).values<float>(), (std::vector{0.0f, 0.0f}));
  EXPECT_EQ(Tensor::full({}, 2.5, DType::f64).item(), 2.5);
  EXPECT_EQ(concat(DType::f32, " ", DType::f64), "float32 float64");
}

TEST(Tensor, RefusesADTypeThatIsNone) {
  constexpr auto kNone = static_cast<DType>(99);
  const std::initializer_list<std::string> said{"DType 99", "f32 (0)", "f64 (1)"};
  EXPECT_TRUE(throws_saying<UsageError>([] { Tensor({2}, kNone); }, said));
  EXPECT_TRUE(throws_saying<UsageError>([] { Tensor::zeros({2}, kNone); }, said));
  EXPECT_TRUE(throws_saying<UsageError>([] { Tensor::full({2}, 1, kNone); }, said));
  EXPECT_TRUE(throws_saying<UsageError>([] { Tensor({2}).to(kNone); }, said));
  EXPECT_TRUE(throws_saying<UsageError>([] { size_of(kNone); }, said));
  EXPECT_TRUE(throws_saying<UsageError>([] { name_of(kNone); }, said));
  EXPECT_TRUE(throws_saying<UsageError>([] { dispatch(kNone, [](auto) {}); }, said));
}

TEST(Tensor, CopiesShareTheBufferAndClonesDoNot) {
  Tensor a = Tensor::full({2, 3}, 1.0);
  EXPECT_TRUE(a.unique());
  const Tensor copy = a, flat = a.reshape({6}), clone = a.clone();
  EXPECT_FALSE(a.unique());
  EXPECT_TRUE(clone.unique());
  EXPECT_TRUE(copy.shares_with(a) && flat.shares_with(a));
  EXPECT_FALSE(clone.shares_with(a) || Tensor().shares_with(Tensor()));
  a.values<float>()[5] = 7;
  EXPECT_EQ(flat.values<float>()[5], 7.0f);
  EXPECT_EQ(clone.values<float>()[5], 1.0f);
}

TEST(Tensor, ConvertsIntoACopyAndIsItselfWhenNothingChanges) {
  const Tensor a = Tensor::of({2}, {0.1f, -2.0f});
  EXPECT_TRUE(a.to(DType::f32).shares_with(a));
  const Tensor wide = a.to(DType::f64);
  EXPECT_EQ(wide.values<double>()[0], static_cast<double>(0.1f));
  EXPECT_SAME_BITS(wide.to(DType::f32).values<float>(), a.values<float>());
}

TEST(Tensor, RefusesAShapeThatDoesNotFitInMemory) {
  const std::size_t many = std::size_t{1} << 61;
  EXPECT_TRUE(throws_saying<UsageError>([&] { Tensor({many}, DType::f64); }, {"Tensor", concat(many), "float64", "fit"}));
}

TEST(Tensor, RefusesMoreOrFewerValuesThanItsShapeHas) {
  const std::vector<double> doubles(5);
  const std::vector<float> floats(7);
  EXPECT_TRUE(throws_saying<UsageError>([&] { Tensor::of({2, 3}, doubles); }, {"5 values", "[2, 3]", "has 6"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { Tensor::of({2, 3}, floats); }, {"7 values", "[2, 3]", "has 6"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Tensor::of({2}, {1, 2, 3}); }, {"3 values", "[2]", "has 2"}));
}

TEST(Tensor, RefusesToBeReadAsAnotherTypeAndSaysHowToConvert) {
  const Tensor a({2}), wide({2}, DType::f64);
  EXPECT_TRUE(throws_saying<UsageError>([&] { a.data<double>(); }, {"read as float64", "holds float32", "convert with to()"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { wide.values<float>(); }, {"read as float32", "holds float64", "to()"}));
}

TEST(Tensor, RefusesAnItemOfSeveralElementsAndAReshapeToAnotherCount) {
  EXPECT_TRUE(throws_saying<UsageError>([] { Tensor({2, 3}).item(); }, {"Tensor::item", "one element", "[2, 3]"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Tensor({0}).item(); }, {"Tensor::item", "[0]"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { Tensor({2, 3}).reshape({4}); }, {"Tensor::reshape", "[2, 3]", "6", "[4]", "4"}));
}

TEST(Tensor, AnUndefinedOneIsNoScalar) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_TRUE(throws_saying<UsageError>([&] { none.item(); }, {"Tensor::item", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { none.reshape({}); }, {"Tensor::reshape", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { none.reshape({1}); }, {"Tensor::reshape", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { none.data<float>(); }, {"Tensor", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { none.data<double>(); }, {"Tensor", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { none.values<float>(); }, {"Tensor", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { none.clone(); }, {"Tensor", "undefined"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { none.to(DType::f64); }, {"Tensor", "undefined"}));
}

TEST(Tensor, RefusesToBeReadAfterItsScope) {
  Tensor late;
  {
    const ArenaScope scope;
    late = Tensor::zeros({1});
  }
  for (const auto& read : std::vector<void (*)(const Tensor&)>{
           [](const Tensor& t) { t.item(); }, [](const Tensor& t) { t.clone(); }, [](const Tensor& t) { t.to(DType::f64); }})
    EXPECT_TRUE(throws_saying<UsageError>([&] { read(late); }, {"ArenaScope", "ended", "OutsideArenaScopes"}));
}

}  // namespace
}  // namespace addnorm
