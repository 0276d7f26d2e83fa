// What is printed about arrangements against what they compute: formulas are read back and computed, diagrams followed,
// parameters counted. Classes: classes.cpp; initialisation and skip gains: gains.cpp.
#include <algorithm>
#include <cmath>

#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/diagram.h"
#include "addnorm/residual/explain.h"
#include "addnorm/residual/residual.h"
#include "support/streams/explained_stack.h"
#include "support/streams/stream_runs.h"
#include "support/test_names.h"

namespace addnorm {
namespace {

using test::decoder;
using test::Executed;
using test::follow;
using test::FormulaReader;
using test::FormulaValue;
using test::FormulaWorld;
using test::has;
using test::has_norm;
using test::kExplainedWidth;
using test::language_model;
using test::normal_tensor;
using test::read_back;
using test::reset_norms;

class EveryFormula : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryFormula, testing::ValuesIn(arrangement_names()), test::name_of_test);

TEST_P(EveryFormula, ReadBackIsWhatTheStreamComputes) {
  const Arrangement& row = arrangement_named(GetParam());
  if (!row.is_row()) return;  // classes are read below
  for (const StackShape& shape : {language_model(4), language_model(1), decoder(8)})
    for (const char* norm : {"layernorm", "rmsnorm"}) {
      if (!has_norm(row) && std::string_view(norm) != "layernorm") continue;
      SCOPED_TRACE(concat(norm, ", ", shape.units(), " units"));
      const Executed executed(row.name, shape, norm_named(norm));
      const Var x(normal_tensor({2, 3, kExplainedWidth}, 1, DType::f64));
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
    const Var x(normal_tensor({2, 3, kExplainedWidth}, 1, DType::f64));
    EXPECT_NEAR_ALL(read_back(executed, formula, x).value(), executed.run(x).value(), test::rounded_apart_tolerance());
  }
}

TEST_P(EveryFormula, HasADiagramThatComputesTheSame) {
  const Arrangement& row = arrangement_named(GetParam());
  if (test::mixes_layers(row.name)) return;  // by learned weights that no picture shows
  Executed executed(row.name, language_model(1), {});
  reset_norms(*executed.residual);
  for (Norm& norm : executed.inner) reset_norms(norm);
  const Var x(normal_tensor({2, 3, kExplainedWidth}, 1, DType::f64));
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

TEST(Diagrams, AreWholeWhateverNamesAndSymbolsSay) {
  const Arrangement row{.name = "a\"b<c>&#",
                        .unit = {.b = {.start = {.constant = 2}, .symbol = "q\"]"}},
                        .overrides = {{.first_share = 0.5, .slots = {.post = true}}}};
  const std::vector<Diagram> two(2, diagram_of(row, language_model(4)));
  const std::string svg = svg_diagram(two), mermaid = mermaid_diagram(two);
  EXPECT_TRUE(has(svg, "aria-label=\"a&quot;b&lt;c&gt;&amp;#\"")) << svg;
  EXPECT_TRUE(has(svg, ">q&quot;]·<")) << svg;
  EXPECT_TRUE(has(mermaid, "(\"q#quot;]·\")") && has(mermaid, "[\"a#quot;b#lt;c#gt;&#35;\"]")) << mermaid;
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
    const std::size_t one = Norm(norm_named(norm), kExplainedWidth).is_identity() ? 0 : [&] {
      Norm single(norm_named(norm), kExplainedWidth);
      return count_parameters(single);
    }();
    std::size_t expected = (row.entry ? one : 0) + (row.exit ? one : 0);
    for (std::size_t i = 0; i < shape.units(); ++i) {
      const Unit unit = shape.unit(i);
      expected += extra_parameters(row, shape, unit, norm_named(norm)).count(kExplainedWidth, kExplainedWidth, 0);
      if (row.slots(shape, unit).mid) expected -= one;  // the branch owns it
    }
    if (row.name == "rezero") expected += shape.layers;
    EXPECT_EQ(count_parameters(*residual), expected) << row.name << " with " << norm;
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
  const struct {
    const char *name, *unit;
    const char *entry = "x₀ = e", *exit = "y = x";
  } rows[] = {
      {"plain", "x' = F(x)"},
      {"plain-ln", "x' = LN(F(x))"},
      {"residual", "x' = x + F(x)"},
      {"xskip", "x' = λ·x + F(x)"},
      {"xskip-ln", "x' = LN(λ·x + F(x))"},
      {"post-ln", "x' = LN(x + F(x))"},
      {"pre-ln", "x' = x + F(LN(x))", "x₀ = e", "y = LN(x)"},
      {"pre-ln-nofinal", "x' = x + F(LN(x))"},
      {"norm-skip", "u = LN(x); x' = u + F(u)", "x₀ = e", "y = LN(x)"},
      {"sandwich", "x' = x + LN(F(LN(x)))", "x₀ = e", "y = LN(x)"},
      {"peri-ln", "x' = x + LN(F(LN(x)))", "x₀ = LN(e)", "y = LN(x)"},
      {"res-post", "x' = x + LN(F(x))", "x₀ = e", "y = LN(x)"},
      {"normformer", "attention: x' = x + LN(Wₒ·h⊙heads(LN(x))); feed-forward: x' = x + W₂·LN(φ(W₁·LN(x)))", "x₀ = e",
       "y = LN(x)"},
      {"sub-ln", "attention: x' = x + Wₒ·LN(heads(LN(x))); feed-forward: x' = x + W₂·LN(φ(W₁·LN(x)))", "x₀ = e", "y = LN(x)"},
      {"deepnorm", "x' = LN(α·x + F(x))"},
      {"admin", "x' = LN(ω⊙x + F(x))"},
      {"admin-const", "x' = LN(ω⊙x + F(x))"},
      {"keel", "x' = LN(α·x + F(LN(x)))"},
      {"rezero", "x' = x + α·F(x)"},
      {"skipinit", "x' = x + α·F(x)"},
      {"layerscale", "x' = x + λ⊙F(LN(x))", "x₀ = e", "y = LN(x)"},
      {"lns", "x' = x + F(LN(x)/√l)", "x₀ = e", "y = LN(x)"},
      {"t-fixup", "x' = x + F(x)"},
      {"ds-init", "x' = LN(x + F(x))"},
      {"scaled-res", "x' = x + F(LN(x))/√n", "x₀ = e", "y = LN(x)"},
      {"mix-ln", "first ¼ of the layers: x' = LN(x + F(x)); other layers: x' = x + F(LN(x))", "x₀ = e", "y = LN(x)"}};
  for (const auto& row : rows) {
    const Formula formula = formula_of(arrangement_named(row.name), language_model(12));
    EXPECT_EQ(units_text(formula), row.unit) << row.name;
    EXPECT_EQ(formula.entry, row.entry) << row.name;
    EXPECT_EQ(formula.exit, row.exit) << row.name;
  }
  const auto catalogue = arrangements();
  EXPECT_EQ(std::ranges::count_if(catalogue, [](const Arrangement& row) { return row.is_row(); }), std::ssize(rows));
}

TEST(Formulas, LeaveOutNormsThatAreNone) {
  EXPECT_EQ(units_text(formula_of(arrangement_named("pre-ln"), language_model(2), norm_named("none"))), "x' = x + F(x)");
}

TEST(Formulas, DefineTheirSymbolsWithNumbers) {
  const auto symbol = [](const char* name) { return formula_of(arrangement_named(name), language_model(12)).symbols.at(0); };
  EXPECT_EQ(symbol("deepnorm"), "α = (2L)^¼ = 2.213");
  EXPECT_EQ(symbol("xskip"), "λ = 2");
  EXPECT_EQ(symbol("keel"), "α = n = 24");
  EXPECT_EQ(symbol("rezero"), "α: learned, one per layer, starts at 0");
  EXPECT_EQ(symbol("skipinit"), "α: learned, one per unit, starts at 0");
  EXPECT_EQ(symbol("layerscale"), "λ: learned, one per feature of each unit, starts at ε = 0.1");
}

TEST(ExtraParameters, AreGivenInLettersAndByKindOfUnit) {
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

}  // namespace
}  // namespace addnorm
