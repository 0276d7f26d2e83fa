// What is printed about arrangements that are classes against what they compute, as published and with choices.
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/diagram.h"
#include "addnorm/residual/explain.h"
#include "addnorm/residual/residual.h"
#include "support/streams/explained_stack.h"
#include "support/streams/stream_runs.h"

namespace addnorm {
namespace {

using test::Executed;
using test::follow;
using test::FormulaReader;
using test::FormulaValue;
using test::FormulaWorld;
using test::has;
using test::kExplainedWidth;
using test::language_model;
using test::normal_tensor;
using test::path_of;
using test::reset_norms;

// Those whose text is a formula are read and computed; the others are held word by word, their
// computation by classes_test.cpp.
class ClassFormulas : public testing::Test {
 protected:
  const StackShape shape = language_model(3);
  const Var x0{normal_tensor({2, 3, kExplainedWidth}, 1, DType::f64)};
  std::unique_ptr<Executed> executed;
  Formula formula;

  void take(const char* name) {
    executed = std::make_unique<Executed>(name, shape, NormKindOptions{});
    formula = formula_of(executed->residual->arrangement(), shape);
  }
  Var F(const Unit& unit, const Var& x) const { return mul_row(x, executed->w(unit, 0)); }
  Var closed(FormulaWorld world, const std::string& path) const {
    world.call = [&](const std::string&, const FormulaValue& x) -> FormulaValue {
      return executed->norm(path, std::get<Var>(x));
    };
    FormulaReader(formula.exit, world).run();
    return std::get<Var>(world.values.at("y"));
  }
  void expect_is(const Var& want) const {
    EXPECT_NEAR_ALL(want.value(), executed->run(x0).value(), test::rounded_apart_tolerance());
  }
};

TEST_F(ClassFormulas, OfRecursiveSkipsIsWhatTheyCompute) {
  take("rskip");
  FormulaWorld world{.values = {{"x'", x0}}};
  for (std::size_t i = 0; i < shape.units(); ++i) {
    const Unit unit = shape.unit(i);
    world.values["x"] = world.values["x'"];
    world.call = [&](const std::string& function, const FormulaValue& x) -> FormulaValue {
      if (function == "F") return F(unit, std::get<Var>(x));
      return executed->norm(path_of(unit) + (function == "LN_1" ? ".norm.0" : ".norm.1"), std::get<Var>(x));
    };
    FormulaReader(units_text(formula), world).run();
  }
  expect_is(std::get<Var>(world.values["x'"]));
}

TEST_F(ClassFormulas, OfBottomToTopIsWhatItComputes) {
  take("b2t");
  const std::string text = units_text(formula), label = "; last of a layer: ";
  ASSERT_TRUE(has(text, label));
  FormulaWorld world{.values = {{"x'", x0}}};
  for (std::size_t i = 0; i < shape.units(); ++i) {
    const Unit unit = shape.unit(i);
    world.values["x"] = world.values["x'"];
    if (unit.first_in_layer) world.values["x_l"] = world.values["x'"];
    world.call = [&](const std::string& function, const FormulaValue& x) -> FormulaValue {
      return function == "F" ? F(unit, std::get<Var>(x)) : executed->norm(path_of(unit) + ".norm", std::get<Var>(x));
    };
    const std::size_t middle = text.find(label);
    FormulaReader(unit.last_in_layer ? text.substr(middle + label.size()) : text.substr(0, middle), world).run();
  }
  expect_is(std::get<Var>(world.values["x'"]));
}

TEST_F(ClassFormulas, OfResiDualIsWhatItComputes) {
  take("resi-dual");
  std::string text = units_text(formula);
  text = text.substr(0, text.find("; out"));
  text.replace(text.find(", r'"), 1, ";");
  FormulaWorld world{.values = {{"x'", x0}, {"r'", x0}}};
  for (std::size_t i = 0; i < shape.units(); ++i) {
    const Unit unit = shape.unit(i);
    world.values["x"] = world.values["x'"];
    world.values["r"] = world.values["r'"];
    world.call = [&](const std::string& function, const FormulaValue& x) -> FormulaValue {
      return function == "F" ? F(unit, std::get<Var>(x)) : executed->norm(path_of(unit) + ".norm", std::get<Var>(x));
    };
    FormulaReader(text, world).run();
  }
  expect_is(closed({.values = {{"x", world.values["x'"]}, {"r", world.values["r'"]}}}, "exit"));
}

TEST_F(ClassFormulas, OfParallelLayersIsWhatTheyCompute) {
  for (const char* name : {"parallel", "parallel-2ln"}) {
    take(name);
    FormulaWorld world{.values = {{"x'", x0}}};
    for (std::size_t layer = 0; layer < shape.layers; ++layer) {
      world.values["x"] = world.values["x'"];
      world.call = [&](const std::string& function, const FormulaValue& x) -> FormulaValue {
        if (function == "Attn") return F(shape.unit(layer, 0), std::get<Var>(x));
        if (function == "FFN") return F(shape.unit(layer, 1), std::get<Var>(x));
        const Unit unit = shape.unit(layer, function == "LN_2" ? 1 : 0);
        return executed->norm(path_of(unit) + ".norm", std::get<Var>(x));
      };
      FormulaReader(units_text(formula), world).run();
    }
    expect_is(closed({.values = {{"x", world.values["x'"]}}}, "exit"));
  }
}

TEST_F(ClassFormulas, OfMixesOfLayersArePinned) {
  const auto text = [&](const char* name) {
    const Formula all = formula_of(arrangement_named(name), shape);
    return units_text(all) + " | " + all.exit;
  };
  EXPECT_EQ(text("denseformer"), "x' = x + F(LN(x)); after layer l: x = Σ_{k≤l} w_lk y_k, y_k the output of layer k | y = LN(x)");
  EXPECT_EQ(text("dlcl-pre"),
            "x' = x + F(LN(x)); layer l reads Σ_{k<l} w_lk LN_k(y_k), the exit too | y = Σ_{k≤L} w_k LN_k(y_k)");
  EXPECT_EQ(text("dlcl-post"),
            "x' = LN(x + F(x)); layer l reads LN_l(Σ_{k<l} w_lk y_k), the exit too | y = LN_{L+1}(Σ_{k≤L} w_k y_k)");
}

TEST(ExtraParameters, OfClassesAreTheirs) {
  const struct {
    const char *name, *layer, *rms, *none;
    std::size_t norms, mixes;  // of three layers of two units, entry and exit included
  } classes[] = {
      {"b2t", "2d", "d", "0", 6, 0},
      {"resi-dual", "2d", "d", "0", 7, 0},
      {"rskip", "4d", "2d", "0", 12, 0},
      {"parallel", "0, and 2d per layer", "0, and d per layer", "0", 4, 0},
      {"parallel-2ln", "2d", "d", "0", 7, 0},
      {"denseformer", "2d, and l + 1 for layer l", "d, and l + 1 for layer l", "0, and l + 1 for layer l", 7, 2 + 3 + 4},
      {"x0-mix", "2d, and 2 per layer", "d, and 2 per layer", "0, and 2 per layer", 7, 2 + 2 + 2},
      {"dlcl-pre", "2d, and 2d + l for layer l, L + 1 for the exit", "d, and d + l for layer l, L + 1 for the exit",
       "0, and l for layer l, L + 1 for the exit", 9, 1 + 2 + 3 + 4},
      {"dlcl-post", "2d, and 2d + l for layer l, L + 1 for the exit", "d, and d + l for layer l, L + 1 for the exit",
       "0, and l for layer l, L + 1 for the exit", 9, 1 + 2 + 3 + 4}};
  for (const auto& one : classes)
    for (const auto& [norm, text, each] :
         {std::tuple("layernorm", one.layer, 2 * kExplainedWidth), std::tuple("rmsnorm", one.rms, kExplainedWidth),
          std::tuple("none", one.none, std::size_t{0})}) {
      EXPECT_EQ(extra_parameters_text(arrangement_named(one.name), language_model(3), norm_named(norm)), text) << one.name;
      const auto residual = make_residual(one.name, language_model(3), {.norm = norm_named(norm)});
      EXPECT_EQ(count_parameters(*residual), one.norms * each + one.mixes) << one.name << " with " << norm;
    }
}

TEST_F(ClassFormulas, SpeakOfNormsOnlyWhereThereAreSome) {
  const auto symbols = [&](const char* name, const char* norm) {
    return formula_of(arrangement_named(name), shape, norm_named(norm)).symbols.at(0);
  };
  EXPECT_EQ(symbols("dlcl-pre", "layernorm"), "w_lk: learned, start at 1/l; y_0 = x₀, without a norm");
  EXPECT_EQ(symbols("dlcl-pre", "none"), "w_lk: learned, start at 1/l; y_0 = x₀");
  EXPECT_EQ(symbols("dlcl-post", "none"), "w_lk: learned, start at 1/l; y_0 = x₀");
}

// Classes with choices: everything printed follows them, and with_choices is all it takes.

const struct {
  const char* name;
  ArrangementChoices choices;
  const char *parameters, *exit;
} kChosen[] = {{"rskip", {.recursions = 1}, "2d", "y = x"},
               {"rskip", {.recursions = 3}, "6d", "y = x"},
               {"rskip", {.recursions = 3, .shared_norms = true}, "2d", "y = x"},
               {"resi-dual", {.stream_share = 0.5}, "2d", "y = 0.5·x + LN(r)"},
               {"resi-dual", {.stream_share = 0}, "2d", "y = LN(r)"},
               {"resi-dual", {.stream_share = 2, .second_stream_scale = 0.25}, "2d", "y = 2·x + LN(r)"}};

TEST(ChosenClasses, CountTheirParameters) {
  for (const auto& one : kChosen) {
    const Arrangement row = with_choices(arrangement_named(one.name), one.choices);
    EXPECT_EQ(extra_parameters_text(row, language_model(3)), one.parameters);
    std::size_t expected = row.exit ? 2 * kExplainedWidth : 0;
    for (std::size_t i = 0; i < 6; ++i)
      expected += extra_parameters(row, language_model(3), language_model(3).unit(i)).count(kExplainedWidth, 0, 0);
    EXPECT_EQ(count_parameters(*make_residual(row, language_model(3))), expected);
    EXPECT_EQ(formula_of(row, language_model(3)).exit, one.exit);
  }
}

TEST(ChosenClasses, AreDrawnAsTheyCompute) {
  for (const auto& one : kChosen) {
    Executed executed(one.name, language_model(1), {}, one.choices);
    reset_norms(*executed.residual);
    const Var x(normal_tensor({2, 3, kExplainedWidth}, 1, DType::f64));
    const Diagram diagram = diagram_of(executed.residual->arrangement(), language_model(1));
    EXPECT_NEAR_ALL(follow(graph_of(diagram), executed, x).value(), executed.run(x).value(), test::rounded_apart_tolerance())
        << text_diagram(std::vector{diagram});
  }
}

TEST(ChosenClasses, SayWhereTheSecondStreamStarts) {
  const Arrangement row = with_choices(arrangement_named("resi-dual"), {.second_stream_scale = 0.25});
  EXPECT_EQ(formula_of(row, language_model(3)).symbols.at(0), "r: a second stream that starts as 0.25·x₀");
  EXPECT_EQ(units_text(formula_of(row, language_model(3))),
            "x' = LN(x + F(x)), r' = r + 0.25·F(x), r₀ = 0.25·x₀; out = x + LN(r)");
}

TEST(ChosenClasses, KeepWhatWasChosenBefore) {
  const Arrangement three = with_choices(arrangement_named("rskip"), {.recursions = 3});
  const Arrangement both = with_choices(three, {.shared_norms = true});
  EXPECT_EQ(both.text, "x' = N(x + N(x + N(x + F(x))))");
  EXPECT_EQ(given_choices(both.choices).size(), 2u);
  const Var x(normal_tensor({2, 3, kExplainedWidth}, 1));
  const std::vector<Var> w = test::row_branches(language_model(2));
  const auto run = [&](const Residual& residual) { return test::run_stack(residual, x, w).value(); };
  EXPECT_SAME_BITS(run(*make_residual(three, language_model(2))).values<float>(),
                   run(*make_residual("rskip", language_model(2), {.choices = {.recursions = 3}})).values<float>());
}

}  // namespace
}  // namespace addnorm
