// What people bring themselves: a function inside a residual unit, a row in a file, a class under a name.
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include "../examples/fading.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/unit.h"
#include "support/gradients.h"
#include "support/modules.h"
#include "support/streams/stream_runs.h"

#define main program_of_the_readme
#include "../examples/residual_unit.cpp"
#undef main

namespace addnorm {
namespace {

using test::input;
using test::kWidth;
using test::normal_tensor;
using test::row_branches;
using test::run_stack;
using test::throws_saying;

std::string text_of_file(const std::string& path) {
  std::ifstream in(std::string(ADDNORM_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The catalogue must be whole before main begins: this one is registered while globals are made.
const Arrangement& kEarly = register_arrangement({.name = "registered-early"});

class Units : public testing::Test {
 protected:
  static Var N(const Var& v) { return layer_norm(v, Var(Tensor::full({kWidth}, 1)), Var(Tensor::zeros({kWidth}))); }
  Var F(const Var& v) const { return mul_row(v, w); }
  static void expect_same(const Var& got, const Var& want) {
    EXPECT_SAME_BITS(got.value().values<float>(), want.value().values<float>());
  }
  const std::function<Var(const Var&)> f = [this](const Var& v) { return F(v); };
  const Var w = Var(normal_tensor({kWidth}, 3), true);
  const Var x = Var(normal_tensor({2, 3, kWidth}, 1), true);
};

TEST_F(Units, AreTheirArrangementAroundAnyFunction) {
  expect_same(ResidualUnit("post-ln", kWidth)(x, f), N(add(x, F(x))));
  expect_same(ResidualUnit("pre-ln", kWidth)(x, f), add(x, F(N(x))));
  expect_same(ResidualUnit("peri-ln", kWidth)(x, f), add(x, N(F(N(x)))));
  expect_same(ResidualUnit("rskip", kWidth)(x, f), N(add(x, N(add(x, F(x))))));
  expect_same(ResidualUnit("plain", kWidth)(x, f), F(x));
}

TEST_F(Units, AreAsHeWritesThem) {
  expect_same(ResidualUnit([](const Var& s) { return relu(s); })(x, f), relu(add(x, F(x))));
  expect_same(ResidualUnit()(x, f), add(x, F(x)));
}

TEST_F(Units, TakeOptions) {
  const Var got = ResidualUnit("post-ln", kWidth, {.norm = norm_named("rmsnorm")})(x, f);
  expect_same(got, rms_norm(add(x, F(x)), Var(Tensor::full({kWidth}, 1))));
  const ResidualUnit dropping("residual", kWidth, {.dropout = 0.5f}, "one"), other("residual", kWidth, {.dropout = 0.5f}, "two");
  const Pass train{.train = true};
  expect_same(dropping(x, f, train), dropping(x, f, train));
  EXPECT_FALSE(test::same_bits(dropping(x, f, train).value().values<float>(), other(x, f, train).value().values<float>()));
}

TEST_F(Units, KnowTheirPlaceInAStack) {
  const StackShape stack{.width = kWidth, .layers = 8};
  const ResidualUnit deep(arrangement_named("deepnorm"), stack, stack.unit(3, 1));
  expect_same(deep(x, f), N(add(scale(x, 2), F(x))));  // (2 * 8)^(1/4)
  const ResidualUnit lns(arrangement_named("lns"), stack, stack.unit(3, 0));
  expect_same(lns(x, f), add(x, F(scale(N(x), 0.5))));  // 1 / sqrt(4)
  const ResidualUnit mixed(arrangement_named("mix-ln"), stack, stack.unit(1, 0), {.choices = {.post_share = 0.5}});
  expect_same(mixed(x, f), N(add(x, F(x))));
  const ResidualUnit former(arrangement_named("normformer"), stack, stack.unit(0, 0));
  EXPECT_EQ(former.branch().head_gain, HeadGain::before_out);
}

TEST_F(Units, ShowTheirParametersByShortNames) {
  const auto paths = [](const char* name) {
    ResidualUnit unit(name, kWidth);
    std::string all;
    for_each_parameter(unit, [&](Parameter& p) { all += p.path + " "; });
    return all;
  };
  EXPECT_EQ(paths("keel"), "in.weight in.bias post.weight post.bias ");
  EXPECT_EQ(paths("rezero"), "b ");
  EXPECT_EQ(paths("layerscale"), "in.weight in.bias b ");
  EXPECT_EQ(paths("rskip"), "norm.0.weight norm.0.bias norm.1.weight norm.1.bias ");
}

TEST_F(Units, HaveTheGradientsOfFiniteDifferences) {
  for (const char* name : {"sandwich", "layerscale", "rskip"}) {
    ResidualUnit unit(name, kWidth);
    test::scramble(unit);
    const auto run = [&](const std::vector<Var>& in) { return unit(in[0], [&](const Var& u) { return mul_row(u, in[1]); }); };
    EXPECT_TRUE(test::gradients_hold(unit, run, {input({3, kWidth}, 1), input({kWidth}, 2)})) << name;
  }
}

TEST_F(Units, AreEveryArrangementWhoseUnitsShareOnlyTheStream) {
  for (const Arrangement& row : arrangements()) {
    SCOPED_TRACE(row.name);
    if (row.between_units.empty())
      EXPECT_EQ(ResidualUnit(row.name, kWidth)(x, f).shape(), x.shape());
    else
      EXPECT_TRUE(throws_saying<UsageError>([&] { ResidualUnit(row.name, kWidth); }, {row.name, row.between_units}));
  }
}

TEST_F(Units, OfClassesStandByThemselves) {
  const Arrangement fading{
      .name = "fading in a unit",
      .make = [](const Arrangement& row, const StackShape& shape, const ResidualOptions& options) -> std::unique_ptr<Residual> {
        return std::make_unique<example::Fading>(row, shape, options);
      },
      .text = "x' = x/l + F(x)"};
  const StackShape one{.width = kWidth, .layers = 1, .sub_layers = {SubLayer::ffn}}, four{.width = kWidth, .layers = 4};
  expect_same(ResidualUnit(fading, one, one.unit(0))(x, f), add(x, F(x)));
  EXPECT_TRUE(throws_saying<UsageError>([&] { ResidualUnit(fading, four, four.unit(3, 0)); },
                                        {"'fading in a unit' is a class", "8 units", "make_residual"}));
  expect_same(ResidualUnit(arrangement_named("rskip"), four, four.unit(3, 0))(x, f), N(add(x, N(add(x, F(x))))));
}

TEST_F(Units, OfAdminStartAsTheFirstOfAStack) { expect_same(ResidualUnit("admin", kWidth)(x, f), N(add(x, F(x)))); }

TEST_F(Units, RefuseWhatCannotBe) {
  EXPECT_TRUE(throws_saying<UsageError>(
      [] { ResidualUnit(arrangement_named("lns"), {.width = kWidth, .layers = 2}, {.layer = 3, .index = 6}); },
      {"layer 3", "2 layers"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { ResidualUnit("post-lm", kWidth); }, {"post-lm", "did you mean post-ln"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { ResidualUnit("post-ln", 0); }, {"width is 0"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { ResidualUnit("pre-ln", kWidth, {.final_norm = true}); }, {"final_norm", "stack"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { ResidualUnit("post-ln", 7)(x, f); }, {"post-ln", "[2, 3, 6]", "7"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { ResidualUnit()(x, [](const Var& v) { return sum(v); }); },
                                        {"F gave []", "x is [2, 3, 6]"}));
}

TEST(Readme, HoldsTheProgramThatRunsHere) {
  EXPECT_EQ(program_of_the_readme(), 0);
  const std::string program = text_of_file("examples/residual_unit.cpp");
  ASSERT_FALSE(program.empty());
  EXPECT_NE(text_of_file("README.md").find("```cpp\n" + program + "```"), std::string::npos)
      << "README.md does not hold the text of examples/residual_unit.cpp";
}

TEST(AddingAnArrangement, ShowsTheRowOfTheExamples) {
  EXPECT_NE(text_of_file("docs/adding-an-arrangement.md").find("```json\n" + text_of_file("examples/halved.json") + "```"),
            std::string::npos);
}

// Arrangements under your own name.

TEST(Registered, ClassesAreArrangementsLikeAllOthers) {
  const Arrangement& before = arrangement_named("post-ln");
  const std::size_t count = arrangements().size();
  example::register_fading();
  EXPECT_EQ(arrangements().size(), count + 1);
  EXPECT_EQ(&arrangement_named("post-ln"), &before);
  EXPECT_EQ(arrangement_named("FADING").name, "fading");
  EXPECT_EQ(arrangement_names().back(), "fading");
  const StackShape shape{.width = kWidth, .layers = 2};
  const std::vector<Var> w = row_branches(shape);
  const Var x(normal_tensor({2, 3, kWidth}, 1));
  Var s = x;
  for (std::size_t i = 0; i < 4; ++i) s = add(scale(s, i < 2 ? 1 : 0.5), mul_row(s, w[i]));
  EXPECT_SAME_BITS(run_stack(*make_residual("fading", shape), x, w).value().values<float>(), s.value().values<float>());
}

TEST(Registered, RowsAreFoundByNameAndAlias) {
  const Arrangement& row = register_arrangement(read_arrangement(std::string(ADDNORM_SOURCE_DIR) + "/examples/halved.json"));
  EXPECT_EQ(&arrangement_named("Half_Sandwich"), &row);
  EXPECT_NE(make_residual("halved-sandwich", {.width = kWidth, .layers = 2}), nullptr);
}

TEST(Registered, OnesFromGlobalsFindTheWholeCatalogue) {
  EXPECT_EQ(&arrangement_named("registered-early"), &kEarly);
  for (const Arrangement& row : arrangements())
    for (const InitGain& gain : row.init.gains) EXPECT_FALSE(gain.roles.empty()) << row.name;
}

TEST(Registered, OnesFromManyThreadsAreAllThere) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 8; ++i) {
        register_arrangement({.name = concat("thread-", t, "-row-", i)});
        EXPECT_EQ(arrangement_named("post-ln").name, "post-ln");
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t)
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(arrangement_named(concat("thread-", t, "-row-", i)).name, concat("thread-", t, "-row-", i));
}

TEST(Registered, NamesAreNotTakenTwice) {
  EXPECT_TRUE(throws_saying<UsageError>([] { register_arrangement({.name = "PostLN"}); }, {"PostLN", "already names post-ln"}));
  EXPECT_TRUE(
      throws_saying<UsageError>([] { register_arrangement({.name = "pre-norm"}); }, {"pre-norm", "already names pre-ln"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { register_arrangement({.name = "mine", .aliases = {"keel"}}); },
                                        {"'keel', an alias of 'mine'", "already names keel"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { register_arrangement({}); }, {"has no name"}));
  EXPECT_TRUE(throws_saying<UsageError>([] { arrangement_named("mine"); }, {"unknown arrangement 'mine'"}));
}

}  // namespace
}  // namespace addnorm
