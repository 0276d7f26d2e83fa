// How weights start: the table of rules against the programs they are named after, and what options make of an arrangement's
// start.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "addnorm/model/language_model.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/explain.h"
#include "core/json/json.h"
#include "residual/catalogue/role_groups.h"
#include "support/folder.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::throws_saying;

ModelConfig small_lm(const std::string& arrangement, InitOptions init = {}) {
  return {
      .vocab = 50, .layers = 4, .d_model = 32, .heads = 2, .seq_len = 16, .arrangement = arrangement, .init = std::move(init)};
}

/// Deviations by role, and of biases by matrix; of one layer.
std::map<std::string, double> deviations(const ModelConfig& config, std::size_t layer = 0) {
  std::map<std::string, double> all;
  LanguageModel model(config, Start::blank);
  for_each_parameter(model, [&](Parameter& p) {
    if (p.place.layer.value_or(layer) != layer) return;
    for (const Part& part : p.parts) {
      std::string name = name_of(part.role);
      if (part.role == Role::bias && p.place.sub_layer == SubLayer::ffn)
        name = p.path.find(".in.") != std::string::npos ? "bias of W_1" : "bias of W_2";
      else if (part.role == Role::bias)
        name = "bias of attention";
      const std::optional<Distribution> from = model.init(p, part);
      all[name] = from ? from->deviation() : 0;
    }
  });
  return all;
}

/// The deviation that n draws show differs from the true one by some 1/sqrt(2n) of it; six of these, and one in 1e8 tests fails.
double six_sampling_errors(double deviation, double elements) { return 6 * deviation / std::sqrt(2 * elements); }

TEST(Init, RulesDrawAsTheProgramsDoThatTheyAreNamedAfter) {
  const Json golden = parsed(test::text_of(std::filesystem::path(ADDNORM_SOURCE_DIR) / "tests/golden/init.json"), "init.json");
  std::size_t compared = 0;
  for (const Json& entry : golden.at("entries").array_items()) {
    const std::string rule = entry.at("rule").text(), role = entry.at("role").text();
    SCOPED_TRACE(concat(rule, " ", role));
    const ModelConfig config{.vocab = golden.at("vocab").whole(),
                             .layers = golden.at("layers").whole(),
                             .d_model = golden.at("d_model").whole(),
                             .heads = golden.at("heads").whole(),
                             .d_ff = golden.at("d_ff").whole(),
                             .seq_len = golden.at("seq_len").whole(),
                             .init = {.rule = rule},
                             .tied = false};
    const double theirs = entry.at("std").number();
    EXPECT_NEAR(deviations(config).at(role), theirs, six_sampling_errors(theirs, entry.at("elements").number()));
    ++compared;
  }
  EXPECT_GE(compared, 30u);
}

/// Deviations as their sources print them, for L layers of width d, f inside the feed-forward part, in layer l from 1 on.
struct Published {
  double v = 0, attention_out = 0, ffn_out = 0, tokens = 0;
};
struct Depths {
  double L, d, f, l;
  double xavier() const { return std::sqrt(2 / (d + d)); }
  double xavier_of_ffn() const { return std::sqrt(2 / (d + f)); }
  /// Xavier's of W_v, W_o and W_2, each times a gain.
  Published by(double gain) const { return {gain * xavier(), gain * xavier(), gain * xavier_of_ffn(), 1 / std::sqrt(d)}; }
};

void expect_published(const std::string& rule, Published (*of)(const Depths&)) {
  const ModelConfig config = completed(small_lm("post-ln", {.rule = rule}));
  for (const std::size_t layer : {std::size_t{0}, config.layers - 1}) {
    SCOPED_TRACE(concat(rule, ", layer ", layer + 1));
    const auto ours = deviations(config, layer);
    const Published theirs = of({.L = static_cast<double>(config.layers),
                                 .d = static_cast<double>(config.d_model),
                                 .f = static_cast<double>(config.d_ff),
                                 .l = static_cast<double>(layer + 1)});
    EXPECT_DOUBLE_EQ(ours.at("v"), theirs.v);
    EXPECT_DOUBLE_EQ(ours.at("attention_out"), theirs.attention_out);
    EXPECT_DOUBLE_EQ(ours.at("ffn_out"), theirs.ffn_out);
    EXPECT_DOUBLE_EQ(ours.at("token_embedding"), theirs.tokens);
  }
}

TEST(Init, RulesOfPapersAreTheirFormulasInTheFirstAndTheLastLayer) {
  expect_published("deepnorm", [](const Depths& n) { return n.by(std::pow(8 * n.L, -0.25)); });
  expect_published("magneto", [](const Depths& n) { return n.by(std::sqrt(std::log(2 * n.L))); });
  expect_published("b2t", [](const Depths& n) { return n.by(1 / std::sqrt(n.L)); });
  expect_published("ds-init", [](const Depths& n) { return n.by(1 / std::sqrt(n.l)); });
  expect_published("t-fixup", [](const Depths& n) {
    Published all = n.by(0.67 * std::pow(n.L, -0.25));
    all.tokens = std::pow(n.d, -0.5) * std::pow(9 * n.L, -0.25);
    return all;
  });
  expect_published("mitchell", [](const Depths& n) {
    return Published{1 / std::sqrt(n.d), 1 / std::sqrt(2 * n.d * n.l), 1 / std::sqrt(2 * n.f * n.l), 1 / std::sqrt(n.d)};
  });
  expect_published("neox", [](const Depths& n) {
    const double wang = 2 / (n.L * std::sqrt(n.d));  // of both, whatever their inputs
    const double small = std::sqrt(2 / (5 * n.d));
    return Published{small, wang, wang, small};  // its init_method draws embeddings too
  });
}

TEST(Init, OfTheArrangementIsTheRuleItsSourcePrescribes) {
  const std::map<std::string, std::string> prescribed{{"pre-ln", "gpt2"},       {"post-ln", "xavier"},  {"norm-skip", "xavier"},
                                                      {"deepnorm", "deepnorm"}, {"t-fixup", "t-fixup"}, {"parallel", "gpt2"}};
  for (const auto& [name, rule] : prescribed) {
    EXPECT_EQ(arrangement_named(name).init.name, rule) << name;
    EXPECT_EQ(deviations(small_lm(name)), deviations(small_lm(name, {.rule = rule}))) << name;
  }
  for (const Arrangement& row : arrangements()) EXPECT_FALSE(row.init.source.empty()) << row.name;
}

TEST(Init, OfTwoPlacementsIsTheSameUnderTheSameRule) {
  for (const std::string& rule : init_rule_names()) {
    LanguageModel pre(small_lm("pre-ln", {.rule = rule})), post(small_lm("post-ln", {.rule = rule}));
    std::map<std::string, Tensor> values;
    for_each_parameter(pre, [&](Parameter& p) { values[p.path] = p.value.value(); });
    for_each_parameter(post, [&](Parameter& p) {
      if (!is_matrix(p.role)) return;
      const auto mine = p.value.value().values<float>(), theirs = values.at(p.path).values<float>();
      EXPECT_TRUE(std::ranges::equal(mine, theirs)) << rule << " " << p.path;
    });
  }
}

using Lines = std::vector<std::string>;

/// Of a language model.
Lines contained(const std::string& name, const InitOptions& init = {}) {
  return contained_init(with_init(arrangement_named(name), init), {StackShape{.width = 32, .layers = 4}});
}

TEST(Init, LeavesWhatTheFormulaContains) {
  const double beta = std::pow(8 * 4, -0.25);
  const auto deepnorm = deviations(small_lm("deepnorm", {.rule = "gpt2"}));
  EXPECT_DOUBLE_EQ(deepnorm.at("q"), 0.02);
  EXPECT_DOUBLE_EQ(deepnorm.at("v"), 0.02 * beta);
  EXPECT_DOUBLE_EQ(deepnorm.at("attention_out"), 0.02 * beta) << "beta stands in place of 1/sqrt(2L)";
  EXPECT_EQ(contained("deepnorm"), Lines{"W_v, W_o, W_1, W_2: times (8L)^−¼"});
  EXPECT_EQ(contained("rezero"), Lines{"α starts at 0"});
  EXPECT_EQ(contained("admin"), Lines{"ω is measured on the first batch"});
  EXPECT_TRUE(contained("pre-ln").empty());
  LanguageModel rezero(small_lm("rezero", {.rule = "t5"}));
  std::size_t coefficients = 0;
  for_each_parameter(rezero, [&](Parameter& p) {
    if (p.role != Role::coefficient) return;
    EXPECT_EQ(p.value.value().item(), 0) << p.path;
    ++coefficients;
  });
  EXPECT_EQ(coefficients, 4u) << "one per layer";
}

/// Of the last layer of a decoder that reads an encoder, all in one word: "cross attention_out".
std::map<std::string, double> of_decoder(const std::string& arrangement, const std::string& rule) {
  ModelConfig config = small_lm(arrangement, {.rule = rule});
  config.model = ModelKind::seq2seq;
  const auto model = make_model(config, Start::blank);
  std::map<std::string, double> all;
  for_each_parameter(*model, [&](Parameter& p) {
    if (!p.path.starts_with("decoder.") || p.place.layer != config.layers - 1 || !p.place.sub_layer) return;
    for (const Part& part : p.parts)
      if (is_matrix(part.role)) all[concat(*p.place.sub_layer, " ", part.role)] = model->init(p, part)->deviation();
  });
  return all;
}

TEST(Init, RuleKeepsItsGainsWhereTheFormulaHasNone) {
  const double gamma = std::sqrt(std::log(3 * 4)), by_depth = 1 / std::sqrt(2 * 4);
  const auto sub_ln = of_decoder("sub-ln", "gpt2");
  EXPECT_DOUBLE_EQ(sub_ln.at("self attention_out"), 0.02 * gamma);
  EXPECT_DOUBLE_EQ(sub_ln.at("self v"), 0.02 * gamma);
  EXPECT_DOUBLE_EQ(sub_ln.at("ffn ffn_out"), 0.02 * gamma);
  EXPECT_DOUBLE_EQ(sub_ln.at("cross v"), 0.02);
  EXPECT_DOUBLE_EQ(sub_ln.at("cross attention_out"), 0.02 * by_depth) << "Magneto's gain is not for cross-attention";
  const auto deepnorm = of_decoder("deepnorm", "gpt2");
  EXPECT_DOUBLE_EQ(deepnorm.at("cross attention_out"), 0.02 * std::pow(12 * 4, -0.25)) << "DeepNorm's is";
  EXPECT_DOUBLE_EQ(of_decoder("sub-ln", "magneto").at("cross attention_out"), std::sqrt(2.0 / 64)) << "nor the rule's";
}

TEST(Init, RuleIsKeptApartFromWhatTheFormulaContains) {
  for (const char* name : {"sub-ln", "deepnorm", "t-fixup", "post-ln"})
    for (const char* rule : {"arrangement", "gpt2", "b2t", "t-fixup", "deepnorm"})
      EXPECT_EQ(contained(name, {.rule = rule, .branch_scale = 0.5}), contained(name)) << name << " " << rule;
}

TEST(Init, WhatAFormulaContainsIsSaidOfEachStackInWhichItDiffers) {
  const StackShape encoder{.width = 32, .layers = 2, .kind = StackKind::encoder, .other_layers = 4};
  const StackShape decoder{.width = 32,
                           .layers = 4,
                           .sub_layers = {SubLayer::self, SubLayer::cross, SubLayer::ffn},
                           .kind = StackKind::decoder,
                           .other_layers = 2};
  const auto of_both = [&](const char* name) { return contained_init(arrangement_named(name), {encoder, decoder}); };
  EXPECT_EQ(of_both("deepnorm"),
            (Lines{"encoder: W_v, W_o, W_1, W_2: times 0.87·(N^4·M)^(−1/16)", "decoder: W_v, W_o, W_1, W_2: times (12M)^−¼"}));
  EXPECT_EQ(of_both("sub-ln"),
            (Lines{"encoder: W_v, W_o, W_1, W_2: times √(ln(3M)·ln(2N)/3)", "decoder: W_v, W_o, W_1, W_2: times √(ln(3M))"}));
  EXPECT_EQ(of_both("t-fixup"), (Lines{"encoder: W_v, W_o, W_1, W_2: times 0.67·N^−¼", "encoder: embeddings: times (9N)^−¼",
                                       "decoder: W_v, W_o, W_1, W_2: times (9M)^−¼", "decoder: embeddings: times (9M)^−¼"}));
  EXPECT_EQ(of_both("rezero"), Lines{"α starts at 0"});
}

/// The names that texts about initialisation use for the matrices that a model draws.
std::set<std::string> drawn_in(const ModelConfig& config) {
  const auto model = make_model(config, Start::blank);
  const bool has_classes = config.classes > 0;
  std::set<std::string> all;
  for_each_parameter(*model, [&](Parameter& p) {
    for (const Part& part : p.parts) {
      if (!is_matrix(part.role) || part.role == Role::ffn_gate) continue;  // the gate goes with W_1
      const bool outer = part.role == Role::weight || part.role == Role::head;
      all.insert(has_classes && outer ? p.path : symbol_of(part.role));
    }
  });
  return all;
}

std::set<std::string> named_by_init_lines(const ModelConfig& config) {
  std::set<std::string> all;
  for (const DrawnStack& stack : drawn_stacks(config))
    for (const InitLine& line : init_lines(with_init(arrangement_of(config), config.init), stack)) {
      std::istringstream names(line.what);
      for (std::string name; std::getline(names >> std::ws, name, ',');) all.insert(name);
    }
  return all;
}

TEST(Init, TextsDescribeWhatTheModelHasAndNothingElse) {
  std::vector<ModelConfig> configs;
  for (const ModelKind kind : {ModelKind::lm, ModelKind::encoder, ModelKind::seq2seq, ModelKind::classifier})
    for (const LayerKind layer : {LayerKind::attention_ffn, LayerKind::attention, LayerKind::ffn})
      for (const bool tied : {true, false})
        for (const PositionKind positions : {PositionKind::learned, PositionKind::sinusoidal}) {
          if (kind == ModelKind::seq2seq && layer == LayerKind::ffn) continue;
          ModelConfig& c = configs.emplace_back(small_lm("post-ln"));
          c.model = kind;
          c.layer = layer;
          c.tied = tied;
          c.positions = positions;
          if (positions == PositionKind::learned) c.init.position_std = 0.1;  // by themselves, so that they have a name
          if (kind == ModelKind::classifier) c.classes = 3;
        }
  configs.push_back({.model = ModelKind::mlp, .features = 5, .classes = 3, .layers = 2, .d_model = 8});
  configs.push_back(small_lm("deepnorm", {.position_std = 0.1}));
  configs.back().d_embedding = 8;
  for (const ModelConfig& config : configs) {
    const ModelConfig c = completed(config);
    SCOPED_TRACE(to_json(c));
    EXPECT_EQ(named_by_init_lines(c), drawn_in(c));
  }
}

TEST(Init, FormulaContainsGainsOfWhatTheModelHas) {
  ModelConfig mlp{.model = ModelKind::mlp, .features = 5, .classes = 3, .layers = 2, .d_model = 8, .arrangement = "t-fixup"};
  const auto of_model = [](const ModelConfig& c) { return contained_init(arrangement_of(c), drawn_stacks(completed(c))); };
  EXPECT_EQ(of_model(mlp), Lines{"W_1, W_2: times 0.67·L^−¼"});
  ModelConfig shared = small_lm("t-fixup");
  shared.model = ModelKind::seq2seq;
  shared.shared_vocab = true;
  shared.positions = PositionKind::sinusoidal;
  EXPECT_EQ(of_model(shared).size(), 3u) << "one table of tokens, which starts with the encoder";
}

TEST(Init, NotesGainsThatAFormulaTakesThePlaceOf) {
  const auto notes = [](const char* name, const char* rule) {
    std::string all;
    for (const std::string& note : init_notes(arrangement_named(name), {.rule = rule})) all += note;
    return all;
  };
  EXPECT_NE(notes("deepnorm", "gpt2").find("those of init gpt2 on W_o, W_2 are left out"), std::string::npos);
  EXPECT_NE(notes("sub-ln", "gpt2").find("on W_o, W_2 are left out, except in cross-attention"), std::string::npos);
  EXPECT_TRUE(notes("lns", "gpt2").ends_with("by depth as well, and takes the effect away"));
  EXPECT_TRUE(notes("scaled-res", "gpt2").ends_with("weakens their output matrices by depth as well")) << "twice, and no more";
  EXPECT_EQ(notes("lns", "magneto"), "") << "whose gain is above 1";
  EXPECT_EQ(notes("deepnorm", "deepnorm"), "");
  EXPECT_EQ(notes("post-ln", "gpt2"), "");
  EXPECT_EQ(notes("lns", "xavier"), "");
}

TEST(Init, NotesABranchScaleOnTopOfTheFormulas) {
  const auto notes = [](const char* name, const InitOptions& init) { return init_notes(arrangement_named(name), init); };
  for (const char* name : {"deepnorm", "b2t", "ds-init", "sub-ln", "t-fixup"}) {
    const std::vector<std::string> said = notes(name, {.branch_scale = 0.25});
    ASSERT_EQ(said.size(), 1u) << name;
    EXPECT_NE(said.front().find(concat("the formula of ", name, " contains gains of")), std::string::npos) << said.front();
    EXPECT_TRUE(said.front().ends_with("a branch scale of 0.25 multiplies those of W_o, W_2")) << said.front();
    EXPECT_TRUE(notes(name, {}).empty()) << name;
  }
  EXPECT_EQ(notes("deepnorm", {.rule = "gpt2", .branch_scale = 0.25}).size(), 2u);
  EXPECT_TRUE(notes("post-ln", {.branch_scale = 0.25}).empty());
}

TEST(Init, NotesABranchScaleThatANormTakesAway) {
  const auto notes = [](const char* name) { return init_notes(arrangement_named(name), {.branch_scale = 0.25}); };
  for (const char* name : {"res-post", "sandwich", "peri-ln"})
    EXPECT_EQ(notes(name), std::vector{concat("a norm of ", name,
                                              " stands after W_o, W_2 and takes a branch scale of 0.25 away: it has no "
                                              "effect on the output, only on how far a step turns them")})
        << name;
  ASSERT_EQ(notes("normformer").size(), 1u);
  EXPECT_NE(notes("normformer").front().find("stands after W_o and takes"), std::string::npos) << "W_2 has one before it";
  for (const char* name : {"post-ln", "pre-ln", "res-post", "sandwich"})
    EXPECT_TRUE(init_notes(arrangement_named(name), {}).empty()) << name;
  EXPECT_TRUE(notes("pre-ln").empty());
  ModelConfig config = small_lm("sandwich", {.branch_scale = 0.25});
  EXPECT_EQ(init_notes(config).size(), 1u);
  for (const char* norm : {"none", "dyt"}) {
    config.norm = norm;
    EXPECT_TRUE(init_notes(config).empty()) << norm << " passes the size of a branch on";
  }
  const Arrangement some = arrangement_from_json(
      R"({"name": "some", "unit": {"post": true}, "overrides": [{"first_share": 0.5, "unit": {"out": true}}]})", "x.json");
  EXPECT_TRUE(init_notes(some, {.branch_scale = 0.25}).empty()) << "the upper layers have none";
}

TEST(Init, NotesNumbersFarAboveThoseOfAnyRuleByTheirNames) {
  const auto notes = [](const InitOptions& init, FieldWords words = nullptr) {
    return init_notes(arrangement_named("pre-ln"), init, words);
  };
  const char* const what = ", far above what any rule has: losses may begin in the thousands, or be NaN";
  EXPECT_EQ(notes({.deviation = 1e6}), Lines{concat("init_std is 1e+06", what)});
  EXPECT_EQ(notes({.embedding_std = 101}), Lines{concat("embedding_std is 101", what)});
  EXPECT_EQ(notes({.position_std = 1e6}), Lines{concat("position_std is 1e+06", what)});
  EXPECT_EQ(notes({.branch_scale = 1e6}), Lines{concat("branch_scale is 1e+06", what)});
  EXPECT_EQ(notes({.branch_scale = 1e6}, [](std::string name) { return "--" + name; }),
            Lines{concat("--branch_scale is 1e+06", what)});
  EXPECT_TRUE(notes({.deviation = 100, .embedding_std = 100, .position_std = 100, .branch_scale = 100}).empty());
}

TEST(Init, RefusesWeightsThatFloat32DoesNotHold) {
  const auto refused = [](const InitOptions& init, std::initializer_list<std::string> parts) {
    return throws_saying<UsageError>([&] { completed(small_lm("pre-ln", init)); }, parts);
  };
  EXPECT_TRUE(refused({.deviation = 1e38}, {"init_std is 1e+38", "beyond 3.4e+38", "smaller"}));
  EXPECT_TRUE(refused({.embedding_std = 1e38}, {"embedding_std is 1e+38", "beyond 3.4e+38"}));
  EXPECT_TRUE(refused({.position_std = 1e38}, {"position_std is 1e+38", "beyond 3.4e+38"}));
  EXPECT_TRUE(refused({.deviation = 1e30, .branch_scale = 1e30}, {"branch_scale is 1e+30", "beyond 3.4e+38"}));
  EXPECT_NO_THROW(completed(small_lm("pre-ln", {.deviation = 1e30})));
  EXPECT_TRUE(init_notes(arrangement_named("pre-ln"), {.deviation = 1e38}).empty()) << "what is refused is not noted as well";
}

TEST(Init, OfTheArrangementIsCalledSoInAnyCase) {
  for (const char* name : {"Arrangement", "ARRANGEMENT"}) {
    const ModelConfig config = completed(small_lm("deepnorm", {.rule = name}));
    EXPECT_EQ(config.init, InitOptions{});
    EXPECT_EQ(deviations(small_lm("deepnorm", {.rule = name})), deviations(small_lm("deepnorm")));
  }
}

TEST(Init, OfEmbeddingsAndBranchesCanBeSaidByItself) {
  const auto gpt2 = deviations(small_lm("post-ln", {.rule = "gpt2"}));
  const auto large = deviations(small_lm("post-ln", {.rule = "gpt2", .embedding_std = 0.5}));
  EXPECT_EQ(large.at("token_embedding"), 0.5);
  EXPECT_EQ(large.at("position_embedding"), 0.5);
  EXPECT_EQ(large.at("q"), gpt2.at("q"));
  const auto apart = deviations(small_lm("post-ln", {.rule = "gpt2", .embedding_std = 0.5, .position_std = 0.1}));
  EXPECT_EQ(apart.at("token_embedding"), 0.5);
  EXPECT_EQ(apart.at("position_embedding"), 0.1);
  const auto weak = deviations(small_lm("post-ln", {.rule = "xavier", .branch_scale = 0.25}));
  const auto xavier = deviations(small_lm("post-ln"));
  EXPECT_DOUBLE_EQ(weak.at("attention_out"), 0.25 * xavier.at("attention_out"));
  EXPECT_DOUBLE_EQ(weak.at("ffn_out"), 0.25 * xavier.at("ffn_out"));
  EXPECT_EQ(weak.at("ffn_in"), xavier.at("ffn_in"));
}

TEST(Init, DeviationOfEmbeddingsIsTheOneThatIsAskedFor) {
  for (const auto& [arrangement, rule] :
       {std::pair{"post-ln", "t-fixup"}, {"residual", "t-fixup"}, {"deepnorm", "t-fixup"}, {"post-ln", "neox"}}) {
    SCOPED_TRACE(concat(arrangement, " ", rule));
    const auto rules = deviations(small_lm(arrangement, {.rule = rule}));
    const auto both = deviations(small_lm(arrangement, {.rule = rule, .embedding_std = 0.5}));
    EXPECT_EQ(both.at("token_embedding"), 0.5);
    EXPECT_EQ(both.at("position_embedding"), 0.5);
    EXPECT_EQ(both.at("attention_out"), rules.at("attention_out"));
    const auto one = deviations(small_lm(arrangement, {.rule = rule, .position_std = 0.1}));
    EXPECT_EQ(one.at("token_embedding"), rules.at("token_embedding"));
    EXPECT_EQ(one.at("position_embedding"), 0.1);
  }
  const auto scaled = [](const char* gains) {
    return arrangement_from_json(concat(R"({"name": "x", "init": {"gains": )", gains, "}}"), "x.json");
  };
  ModelConfig own = small_lm("x", {.embedding_std = 0.5});
  own.own_arrangement = scaled(R"([{"roles": ["v", "token_embedding"], "gain": 3}])");
  EXPECT_EQ(deviations(own).at("token_embedding"), 0.5);
  own.init = {};
  EXPECT_DOUBLE_EQ(deviations(own).at("token_embedding"), 3 / std::sqrt(32.0));
  const double v = deviations(own).at("v");
  own.init.embedding_std = 0.5;
  EXPECT_EQ(deviations(own).at("v"), v) << "the gain stays there";
}

TEST(Init, FormulaMayContainTheStartOfAnyEmbeddings) {
  const auto row = [](const char* role, const char* name) {
    return arrangement_from_json(concat(R"({"name": "mine", "gains_in_formula": true, "init": {"name": ")", name,
                                        R"(", "gains": [{"roles": [")", role, R"("], "gain": 3}]}})"),
                                 "x.json");
  };
  const auto refusal = [](const Arrangement& of, const InitOptions& options) {
    try {
      with_init(of, options);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* role : {"token_embedding", "position_embedding"})
    EXPECT_EQ(refusal(row(role, ""), {.embedding_std = 0.5}),
              "embedding_std is 0.5, but the formula of mine contains how embeddings start. Leave it out")
        << role;
  EXPECT_EQ(refusal(row("token_embedding", ""), {.position_std = 0.5}), "");
  EXPECT_EQ(refusal(row("position_embedding", "of mine"), {.position_std = 0.5}),
            "position_std is 0.5, but the formula of mine contains how embeddings start. Leave it out");
  EXPECT_TRUE(contains_start(row("token_embedding", ""), {Role::token_embedding, Role::position_embedding}));
  EXPECT_TRUE(contains_start(arrangement_named("t-fixup"), {Role::token_embedding}));
  EXPECT_FALSE(contains_start(arrangement_named("t-fixup"), {Role::q, Role::k}));
  EXPECT_FALSE(contains_start(arrangement_named("deepnorm"), {Role::token_embedding, Role::position_embedding}));
  EXPECT_FALSE(contains_start(with_init(arrangement_named("deepnorm"), {.rule = "t-fixup"}), {Role::token_embedding}));
  EXPECT_FALSE(contains_start(with_init(arrangement_named("residual"), {.rule = "t-fixup"}), {Role::token_embedding}));
}

TEST(Init, WeakerBranchesShowInThePredictedSkipGain) {
  const StackShape shape{.width = 64, .layers = 6};
  const Arrangement post = with_init(arrangement_named("post-ln"), {.branch_scale = 0.25});
  EXPECT_NEAR(skip_gain(post, shape)->gain, std::pow(1 + 1.0 / 16, -6.0), 1e-12);
  const Arrangement deepnorm = with_init(arrangement_named("deepnorm"), {.rule = "gpt2"});
  EXPECT_NEAR(skip_gain(deepnorm, shape)->gain, skip_gain(arrangement_named("deepnorm"), shape)->gain, 1e-12)
      << "beta counts under any rule";
}

TEST(Init, RefusesWhatHasNothingToActOnAndSaysWhatItWas) {
  const auto refused = [](ModelConfig config, std::initializer_list<std::string> parts) {
    return throws_saying<UsageError>([&] { completed(config); }, parts);
  };
  EXPECT_TRUE(refused(small_lm("pre-ln", {.rule = "gpt3"}), {"init", "'gpt3'", "did you mean gpt2?", "xavier"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.embedding_std = 0}), {"embedding_std is 0", "above 0"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.embedding_std = -1}), {"embedding_std is -1"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.position_std = std::nan("")}), {"position_std is nan"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.deviation = INFINITY}), {"init_std is inf"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.branch_scale = 0}), {"branch_scale is 0"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.deviation = 1e99}), {"init_std is 1e+99", "float32", "3.4e+38"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.deviation = 1e-60}), {"init_std is 1e-60", "above 0", "1.2e-38"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.embedding_std = 1e-39}), {"embedding_std is 1e-39", "1.2e-38"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.position_std = 1e39}), {"position_std is 1e+39", "3.4e+38"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.branch_scale = 1e-300}), {"branch_scale is 1e-300", "1.2e-38"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.branch_scale = 1e-320}), {"branch_scale is 1e-320; it must be a number above 0"}));
  EXPECT_TRUE(refused(small_lm("pre-ln", {.branch_scale = -0.12345678}), {"branch_scale is -0.12345678; it must"}));
  EXPECT_NO_THROW(completed(small_lm("pre-ln", {.embedding_std = 1e-37, .branch_scale = 1e38})));
  EXPECT_TRUE(refused(small_lm("post-ln", {.deviation = 0.1}), {"init_std is 0.1", "xavier", "widths"}));
  EXPECT_TRUE(refused(small_lm("t-fixup", {.embedding_std = 0.1}), {"embedding_std is 0.1", "formula of t-fixup", "residual"}));
  ModelConfig rotary = small_lm("pre-ln", {.position_std = 0.1});
  rotary.positions = PositionKind::rotary;
  EXPECT_TRUE(refused(rotary, {"position_std is 0.1", "no learned positions"}));
}

TEST(Init, IsFoundWithSpacesAndOtherNames) {
  for (const char* name : {"GPT 2", "gpt_2", "Nano GPT", "GPT2"}) EXPECT_EQ(canonical_init(name), "gpt2") << name;
  EXPECT_EQ(canonical_init("normal"), "bert");
  EXPECT_EQ(canonical_init("Arrangement"), "arrangement");
  EXPECT_EQ(canonical_init("gpt3"), "");
}

TEST(Init, OfAnotherLibraryIsAnsweredWithTheNearestRules) {
  const auto unknown = [](const char* name, std::initializer_list<std::string> parts) {
    return throws_saying<UsageError>([&] { init_rule_named(name); }, parts);
  };
  for (const char* name : {"kaiming", "he", "He_normal", "kaiming-uniform", "lecun_normal"})
    EXPECT_TRUE(unknown(name, {concat("unknown initialisation '", name, "': nearest are mitchell and t5"),
                               "draw matrices from N(0, 1/fan_in); known: arrangement, xavier"}));
  EXPECT_TRUE(unknown("default", {"arrangement is the default here, pytorch that of nn.Transformer; known: arrangement"}));
  EXPECT_TRUE(unknown("orthogonal", {"unknown initialisation 'orthogonal'; known: arrangement"}));
}

TEST(Init, IsKeptByConfigsUnderItsCanonicalName) {
  const ModelConfig config = small_lm("post-ln", {.rule = "nanoGPT", .embedding_std = 0.5, .branch_scale = 0.25});
  EXPECT_EQ(completed(config).init.rule, "gpt2");
  EXPECT_EQ(model_config_from_json(to_json(config), "test").init, config.init);
  EXPECT_EQ(model_config_from_json(R"({"layers": 2})", "a config of 0.1.0").init, InitOptions{});
}

}  // namespace
}  // namespace addnorm
