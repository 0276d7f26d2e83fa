// What is told of arrangements against what they compute: formulas are read back and computed, parameters counted, skip gains
// measured with random branches.
#include <algorithm>
#include <cmath>

#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/diagram.h"
#include "addnorm/residual/explain.h"
#include "addnorm/residual/residual.h"
#include "support/told_stack.h"

namespace addnorm {
namespace {

using test::Executed;
using test::follow;
using test::FormulaReader;
using test::FormulaValue;
using test::FormulaWorld;
using test::has;
using test::has_norm;
using test::normal_tensor;
using test::path_of;
using test::read_back;
using test::reset_norms;

constexpr std::size_t kWidth = test::kToldWidth;

StackShape language_model(std::size_t layers) { return {.width = kWidth, .layers = layers}; }
StackShape decoder(std::size_t layers) {
  return {.width = kWidth,
          .layers = layers,
          .sub_layers = {SubLayer::self, SubLayer::cross, SubLayer::ffn},
          .kind = StackKind::decoder,
          .other_layers = 3};
}

class EveryFormula : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryFormula, testing::ValuesIn(arrangement_names()), [](const auto& test) {
  std::string name = test.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST_P(EveryFormula, ReadBackIsWhatTheStreamComputes) {
  const Arrangement& row = arrangement_named(GetParam());
  if (!row.is_row()) return;  // classes are read below
  for (const StackShape& shape : {language_model(4), language_model(1), decoder(8)})
    for (const char* norm : {"layernorm", "rmsnorm"}) {
      if (!has_norm(row) && std::string_view(norm) != "layernorm") continue;
      SCOPED_TRACE(concat(norm, ", ", shape.units(), " units"));
      const Executed executed(row.name, shape, norm_named(norm));
      const Var x(normal_tensor({2, 3, kWidth}, 1, DType::f64));
      const Formula formula = formula_of(row, shape, norm_named(norm));
      SCOPED_TRACE(units_text(formula));
      EXPECT_NEAR_ALL(read_back(executed, formula, x).value(), executed.run(x).value(), test::rounded_apart_tolerance());
    }
}

TEST(Formulas, FollowTheChoicesOfTheirArrangement) {
  const struct {
    const char* name;
    ArrangementChoices choices;
    const char* text;
  } cases[] = {{"xskip", {.skip_factor = 0.5}, "x' = λ·x + F(x)"},
               {"keel", {.learned_skip = true}, ""},
               {"mix-ln", {.post_share = 0.5}, "first ½ of the layers: x' = LN(x + F(x)); other layers: x' = x + F(LN(x))"},
               {"normformer", {.scale_ffn_skip = true, .head_gain = HeadGain::after_out}, ""},
               {"scaled-res", {.norm_place = NormPlace::post}, "x' = LN(x + F(x)/√n)"},
               {"admin-const", {.output_change = OutputChange::one}, "x' = LN(ω⊙x + F(x))"}};
  for (const auto& one : cases) {
    const StackShape shape = language_model(4);
    const Executed executed(one.name, shape, {}, one.choices);
    const Formula formula = formula_of(executed.residual->arrangement(), shape);
    if (*one.text) {
      EXPECT_EQ(units_text(formula), one.text);
    }
    SCOPED_TRACE(units_text(formula));
    if (has(units_text(formula), "½")) continue;  // the reader of labels knows quarters
    const Var x(normal_tensor({2, 3, kWidth}, 1, DType::f64));
    EXPECT_NEAR_ALL(read_back(executed, formula, x).value(), executed.run(x).value(), test::rounded_apart_tolerance());
  }
}

TEST_P(EveryFormula, HasADiagramThatComputesTheSame) {
  const Arrangement& row = arrangement_named(GetParam());
  const bool mixes = has(row.name, "dlcl") || row.name == "denseformer";  // by learned weights that no picture shows
  if (mixes) return;
  Executed executed(row.name, language_model(1), {});
  reset_norms(*executed.residual);
  for (Norm& norm : executed.inner) reset_norms(norm);
  const Var x(normal_tensor({2, 3, kWidth}, 1, DType::f64));
  const DiagramGraph graph = graph_of(diagram_of(row, language_model(1)));
  EXPECT_NEAR_ALL(follow(graph, executed, x).value(), executed.run(x).value(), test::rounded_apart_tolerance());
}

TEST_P(EveryFormula, IsDrawnInEveryFormat) {
  const Arrangement& row = arrangement_named(GetParam());
  for (const StackShape& shape : {language_model(12), decoder(8)}) {
    const std::vector<Diagram> one{diagram_of(row, shape)};
    const std::string text = text_diagram(one), ascii = text_diagram(one, Letters::ascii);
    EXPECT_TRUE(std::ranges::all_of(ascii, [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != '?'; })) << ascii;
    for (const std::string& drawing : {text, ascii, svg_diagram(one), mermaid_diagram(one)}) {
      EXPECT_TRUE(has(drawing, "attention") && has(drawing, "feed-forward")) << drawing;
      EXPECT_EQ(has(drawing, "final LN"), row.exit) << drawing;
    }
    EXPECT_EQ(has(mermaid_diagram(one), "skip"), !has(row.name, "plain"));
    EXPECT_EQ(has(svg_diagram(one), "class=\"skip\""), !has(row.name, "plain"));
  }
}

TEST(Diagrams, ShowTheSkipBesideTheBranch) {
  const std::vector<Diagram> one{diagram_of(arrangement_named("pre-ln"), language_model(12))};
  EXPECT_EQ(text_diagram(one),
            "      x₀\n"
            "      │\n"
            "╭─────┼─────────────────────╮\n"
            "│     │                     │\n"
            "│     ├────────────╮        │\n"
            "│     │            LN       │\n"
            "│     │            │        │\n"
            "│     │        attention    │\n"
            "│     ⊕────────────╯        │\n"
            "│     │                     │\n"
            "│     ├────────────╮        │\n"
            "│     │            LN       │\n"
            "│     │            │        │\n"
            "│     │       feed-forward  │\n"
            "│     ⊕────────────╯        │\n"
            "│     │                     │\n"
            "╰─────┼─ each of L layers ──╯\n"
            "      │\n"
            "   final LN\n"
            "      │\n"
            "      y\n");
}

TEST(Diagrams, StandSideBySide) {
  const StackShape shape = language_model(12);
  const std::vector<Diagram> two{diagram_of(arrangement_named("post-ln"), shape),
                                 diagram_of(arrangement_named("resi-dual"), shape)};
  const std::string text = text_diagram(two);
  EXPECT_TRUE(has(text.substr(0, text.find('\n')), "post-ln") && has(text.substr(0, text.find('\n')), "resi-dual"));
  EXPECT_TRUE(has(text, "⊕─────────┴───────────▸⊕")) << text;  // the branch goes into both streams
}

TEST_P(EveryFormula, DefinesItsSymbolsWithTheNumbersOfTheStack) {
  const Arrangement& row = arrangement_named(GetParam());
  for (const StackShape& shape : {language_model(12), decoder(6)})
    for (const std::string& line : formula_of(row, shape).symbols) {
      const std::size_t second = line.rfind(" = "), first = line.find(" = ");
      if (first == std::string::npos || first == second || !row.is_row()) continue;  // "λ = 2"
      FormulaWorld world{.values = {{"L", static_cast<double>(shape.layers)},
                                    {"M", static_cast<double>(shape.layers)},
                                    {"n", static_cast<double>(shape.units())}}};
      const std::string rule = line.substr(first + 3, second - first - 3);
      const double value = std::get<double>(FormulaReader(rule, world).expression());
      EXPECT_NEAR(std::stod(line.substr(second + 3)), value, test::four_digits(value)) << line;
    }
}

TEST_P(EveryFormula, CountsTheParametersOfItsResidual) {
  const Arrangement& row = arrangement_named(GetParam());
  if (!row.is_row()) return;
  for (const char* norm : {"layernorm", "rmsnorm", "dyt", "scalenorm", "none"}) {
    if (!has_norm(row) && std::string_view(norm) != "layernorm") continue;
    const StackShape shape = decoder(4);
    const auto residual = make_residual(row.name, shape, {.norm = norm_named(norm)});
    const std::size_t one = Norm(norm_named(norm), kWidth).is_identity() ? 0 : [&] {
      Norm single(norm_named(norm), kWidth);
      return count_parameters(single);
    }();
    std::size_t told = (row.entry ? one : 0) + (row.exit ? one : 0);
    for (std::size_t i = 0; i < shape.units(); ++i) {
      const Unit unit = shape.unit(i);
      told += extra_parameters(row, shape, unit, norm_named(norm)).count(kWidth, kWidth, 0);
      if (row.slots(shape, unit).mid) told -= one;  // the branch owns it
    }
    if (row.name == "rezero") told += shape.layers;
    EXPECT_EQ(count_parameters(*residual), told) << row.name << " with " << norm;
  }
}

TEST_P(EveryFormula, HasSomethingToSayOfEverything) {
  const Arrangement& row = arrangement_named(GetParam());
  for (const StackShape& shape : {language_model(12), decoder(6)}) {
    const Formula formula = formula_of(row, shape);
    EXPECT_FALSE(units_text(formula).empty());
    EXPECT_TRUE(formula.entry.starts_with("x₀ = ") && formula.exit.starts_with("y = "));
    EXPECT_FALSE(extra_parameters_text(row, shape).empty());
    EXPECT_FALSE(init_lines(row, shape).empty());
    const auto gain = skip_gain(row, shape);
    EXPECT_EQ(gain.has_value(), !has(row.name, "plain"));
    if (gain) {
      EXPECT_TRUE(std::isfinite(gain->gain) && gain->gain > 0 && gain->deviation > 0);
    }
  }
}

TEST(Formulas, AreWrittenAsPapersWriteThem) {
  const auto text = [](const char* name) { return units_text(formula_of(arrangement_named(name), language_model(12))); };
  EXPECT_EQ(text("post-ln"), "x' = LN(x + F(x))");
  EXPECT_EQ(text("pre-ln"), "x' = x + F(LN(x))");
  EXPECT_EQ(text("norm-skip"), "u = LN(x); x' = u + F(u)");
  EXPECT_EQ(text("deepnorm"), "x' = LN(α·x + F(x))");
  EXPECT_EQ(text("lns"), "x' = x + F(LN(x)/√l)");
  EXPECT_EQ(text("layerscale"), "x' = x + λ⊙F(LN(x))");
  EXPECT_EQ(text("scaled-res"), "x' = x + F(LN(x))/√n");
  EXPECT_EQ(text("plain"), "x' = F(x)");
  EXPECT_EQ(text("normformer"), "attention: x' = x + LN(Wₒ·h⊙heads(LN(x))); feed-forward: x' = x + W₂·LN(φ(W₁·LN(x)))");
  EXPECT_EQ(text("mix-ln"), "first ¼ of the layers: x' = LN(x + F(x)); other layers: x' = x + F(LN(x))");
  EXPECT_EQ(units_text(formula_of(arrangement_named("pre-ln"), language_model(2), norm_named("none"))), "x' = x + F(x)");
  EXPECT_EQ(formula_of(arrangement_named("deepnorm"), language_model(12)).symbols[0], "α = (2L)^¼ = 2.213");
}

// Classes carry their text. Those whose text is a formula are read and computed; the others are held word by word, their
// computation by classes_test.cpp.
class ClassFormulas : public testing::Test {
 protected:
  const StackShape shape = language_model(3);
  const Var x0{normal_tensor({2, 3, kWidth}, 1, DType::f64)};
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
            "x' = LN(x + F(x)); layer l reads LN_l(Σ_{k<l} w_lk y_k), the exit too | y = LN_L(Σ_{k≤L} w_k y_k)");
}

TEST(ExtraParameters, AreToldInLettersAndByKindOfUnit) {
  const auto text = [](const char* name, const char* norm = "layernorm") {
    return extra_parameters_text(arrangement_named(name), language_model(12), norm_named(norm));
  };
  EXPECT_EQ(text("post-ln"), "2d");
  EXPECT_EQ(text("post-ln", "rmsnorm"), "d");
  EXPECT_EQ(text("sandwich"), "4d");
  EXPECT_EQ(text("layerscale"), "3d");
  EXPECT_EQ(text("rezero"), "0, and 1 per layer");
  EXPECT_EQ(text("skipinit"), "1");
  EXPECT_EQ(text("normformer"), "attention 4d + H, feed-forward 2d + 2f");
  EXPECT_EQ(text("parallel"), "0, and 2d per layer");
  EXPECT_EQ(text("residual"), "0");
}

TEST(ExtraParameters, OfClassesAreTheirs) {
  constexpr std::size_t kLayers = 3, d = kWidth, kSum = 1 + 2 + 3;  // l over the layers
  const struct {
    const char *name, *text;
    std::size_t all;
  } classes[] = {
      {"b2t", "2d", 6 * 2 * d},
      {"resi-dual", "2d", 6 * 2 * d + 2 * d},
      {"rskip", "4d", 6 * 4 * d},
      {"parallel", "0, and 2d per layer", kLayers * 2 * d + 2 * d},
      {"parallel-2ln", "2d", 6 * 2 * d + 2 * d},
      {"denseformer", "2d, and l + 1 for layer l", 6 * 2 * d + kSum + kLayers + 2 * d},
      {"dlcl-pre", "2d, and 2d + l for layer l, L + 1 for the exit", 6 * 2 * d + kLayers * 2 * d + kSum + kLayers + 1},
      {"dlcl-post", "2d, and 2d + l for layer l, L + 1 for the exit", 6 * 2 * d + kLayers * 2 * d + kSum + kLayers + 1}};
  for (const auto& one : classes) {
    EXPECT_EQ(extra_parameters_text(arrangement_named(one.name), language_model(kLayers)), one.text);
    EXPECT_EQ(count_parameters(*make_residual(one.name, language_model(kLayers))), one.all) << one.name;
  }
}

TEST(InitLines, SayTheGainsWithTheirNumbers) {
  const auto lines = [](const char* name, const StackShape& shape) {
    std::string all;
    for (const InitLine& line : init_lines(arrangement_named(name), shape)) all += line.what + ": " + line.rule + "\n";
    return all;
  };
  EXPECT_EQ(lines("deepnorm", language_model(12)),
            "W_q, W_k: Xavier normal\nW_v, W_o, W_1, W_2: Xavier normal, times (8L)^−¼ = 0.3195\nembeddings: N(0, 1/d)\n");
  EXPECT_EQ(lines("pre-ln", language_model(12)),
            "W_q, W_k, W_v, W_1, embeddings: N(0, 0.02²)\nW_o, W_2: N(0, 0.02²), times 1/√(2L) = 0.2041\n");
  EXPECT_TRUE(has(lines("ds-init", language_model(4)), "Xavier uniform, times 1/√l = 1 in layer 1 … 0.5 in layer 4"));
  EXPECT_TRUE(has(lines("sub-ln", decoder(6)), "W_q, W_k; W_q, W_k, W_v, W_o of cross-attention: Xavier normal\n"));
  EXPECT_TRUE(has(lines("deepnorm", decoder(6)), "(12M)^−¼"));
}

TEST(SkipGains, AreThoseOfTheTable) {
  const auto gain = [](const char* name, std::size_t units, int digits) {
    std::ostringstream out;
    out.precision(digits);
    out << skip_gain(arrangement_named(name), {.width = 8, .layers = units / 2})->gain;
    return out.str();
  };
  const struct {
    const char* name;
    int digits;
    const char *at12, *at36, *at100;
  } table[] = {{"post-ln", 2, "0.016", "3.8e-06", "8.9e-16"}, {"norm-skip", 2, "0.016", "3.8e-06", "8.9e-16"},
               {"pre-ln", 3, "0.277", "0.164", "0.0995"},     {"admin-const", 4, "0.2675", "0.1575", "0.09647"},
               {"deepnorm", 3, "0.965", "0.979", "0.988"},    {"keel", 3, "0.959", "0.986", "0.995"}};
  for (const auto& row : table) {
    EXPECT_EQ(gain(row.name, 12, row.digits), row.at12) << row.name;
    EXPECT_EQ(gain(row.name, 36, row.digits), row.at36) << row.name;
    EXPECT_EQ(gain(row.name, 100, row.digits), row.at100) << row.name;
  }
}

TEST(SkipGains, OfProfiledAdminIsThatOfPreLn) {
  Arrangement admin{.name = "profiled",
                    .unit = {.a = {.kind = CoefficientRule::Kind::learned_vector, .symbol = "ω"}, .post = true}};
  admin.unit.a.profiled = true;
  const StackShape shape = language_model(9);
  EXPECT_DOUBLE_EQ(skip_gain(admin, shape)->gain, skip_gain(arrangement_named("pre-ln"), shape)->gain);
}

TEST(SkipGains, OfAnInitialisationByDepthCountWhenAsked) {
  const auto gain = skip_gain(arrangement_named("pre-ln"), language_model(12), NormalInit::with_its_gains);
  EXPECT_DOUBLE_EQ(gain->gain, std::sqrt(0.5));
}

/// The share of the input in the output of a real stream whose branches are random matrices, of the gain that the row gives them.
SkipGain measured_gain(const std::string& name, std::size_t layers) {
  constexpr std::size_t kFeatures = 192, kTokens = 96;
  const StackShape shape{.width = kFeatures, .layers = layers};
  const bool normed = has_norm(arrangement_named(name));
  const auto residual = make_residual(name, shape, {.norm = norm_named(normed ? "layernorm-noeps" : "layernorm")});
  const Var x(layer_norm(Var(normal_tensor({1, kTokens, kFeatures}, 1)), Var(), Var(), {.eps = 0}));
  const auto stream = residual->open(x, {});
  for (std::size_t i = 0; i < shape.units(); ++i) {
    const Unit unit = shape.unit(i);
    if (unit.first_in_layer) stream->enter(unit.layer);
    const Var w(normal_tensor({kFeatures, kFeatures}, 10 + i));
    const Var inner = Norm(residual->branch(unit).inner_norm, kFeatures)(stream->read(unit), {});
    const double gain = branch_gain(residual->arrangement(), shape, unit) / std::sqrt(static_cast<double>(kFeatures));
    stream->write(unit, scale(linear(inner, w), gain));
    if (unit.last_in_layer) stream->leave(unit.layer);
  }
  const Tensor y = stream->close().value();
  double dot = 0, square = 0;
  const std::size_t all = kFeatures * kTokens;
  for (std::size_t i = 0; i < all; ++i) {
    dot += static_cast<double>(y.data<float>()[i]) * static_cast<double>(x.value().data<float>()[i]);
    square += static_cast<double>(y.data<float>()[i]) * static_cast<double>(y.data<float>()[i]);
  }
  return {dot / static_cast<double>(all), std::sqrt(square / static_cast<double>(all))};
}

TEST_P(EveryFormula, PredictsTheSkipGainThatRandomBranchesShow) {
  const Arrangement& row = arrangement_named(GetParam());
  const StackShape shape{.width = 8, .layers = 3};
  const auto told = skip_gain(row, shape);
  if (!told || row.name == "sub-ln" || row.name == "admin") return;  // inner gain; a profiling pass
  const SkipGain seen = measured_gain(row.name, shape.layers);
  EXPECT_NEAR(seen.gain, told->gain, test::random_branch_tolerance(told->deviation));
  EXPECT_NEAR(seen.deviation, told->deviation, test::random_branch_tolerance(told->deviation));
}

}  // namespace
}  // namespace addnorm
