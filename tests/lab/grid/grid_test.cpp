// Grids: from JSON to rows, and from losses to what is said of rows.
#include "addnorm/lab/grid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "addnorm/core/error.h"
#include "addnorm/lab/grid_result.h"
#include "core/json/json.h"
#include "lab/refusals.h"

namespace addnorm {
namespace {

std::string grid_refusal(const std::string& text) {
  return refusal([&] { grid_from_json(text, "my.json"); });
}
Json options_of(const GridRow& row) { return parsed(row.options, "row"); }

// The form.

TEST(GridSpec, CombinesItsListsTheLastChangingFastest) {
  const GridSpec spec =
      grid_from_json(R"({"base": {"steps": 50}, "grid": {"arrangement": ["post-ln", "pre-ln"], "layers": [2, 4]}})", "g");
  ASSERT_EQ(spec.rows.size(), 4u);
  const char* const names[] = {"post-ln", "post-ln", "pre-ln", "pre-ln"};
  const std::size_t layers[] = {2, 4, 2, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    const Json options = options_of(spec.rows[i]);
    EXPECT_EQ(options["arrangement"], Json(names[i]));
    EXPECT_EQ(options["layers"], Json(layers[i]));
    EXPECT_EQ(options["steps"], Json(50));
    EXPECT_EQ(spec.rows[i].seeds, 3u);
  }
}

TEST(GridSpec, KnowsOtherWordsAndAliases) {
  const GridSpec spec =
      grid_from_json(R"({"rows": [{"arrangement": "PreLN", "learning_rate": 0.01, "num_hidden_layers": 3}]})", "g");
  const Json options = options_of(spec.rows.at(0));
  EXPECT_EQ(options["arrangement"], Json("pre-ln"));
  EXPECT_EQ(options["lr"], Json(0.01));
  EXPECT_EQ(options["layers"], Json(3));
}

TEST(GridSpec, NamesOptionsAsItsCallerDoes) {
  const FieldWords words = [](const std::string& field) { return "<" + field + ">"; };
  const GridSpec spec = grid_from_json(R"({"grid": {"learning_rate": [0.001, 1e-3]}})", "g", words);
  EXPECT_EQ(spec.notes, std::vector<std::string>{"<lr>: 0.001 stands there twice, and is run once"});
  EXPECT_EQ(spec.words("steps"), "<steps>");
}

TEST(GridSpec, HasAValueOnceThatAListHasTwice) {
  const GridSpec spec = grid_from_json(
      R"({"grid": {"arrangement": ["post-ln", "PostLN"], "init": ["xavier", "glorot", "nanogpt", "gpt2"], "lr": [0.001, 1e-3]}})",
      "g");
  ASSERT_EQ(spec.rows.size(), 2u);
  EXPECT_EQ(options_of(spec.rows[0])["init"], Json("xavier"));
  EXPECT_EQ(options_of(spec.rows[1])["init"], Json("gpt2")) << "under its own name";
  EXPECT_EQ(spec.notes, (std::vector<std::string>{"arrangement: PostLN is post-ln, which stands there too, and is run once",
                                                  "init: glorot is xavier, which stands there too, and is run once",
                                                  "init: gpt2 stands there twice, and is run once",
                                                  "lr: 0.001 stands there twice, and is run once"}));
  EXPECT_EQ(options_of(grid_from_json(R"({"rows": [{"init": "Megatron"}]})", "g").rows.at(0))["init"], Json("gpt2"));
}

TEST(GridSpec, ActsInheritBaseAndSeeds) {
  const GridSpec spec = grid_from_json(
      R"({"base": {"lr": 0.01}, "seeds": 2, "acts": [{"name": "one", "rows": [{"layers": 2}]},
          {"name": "two", "seeds": 1, "base": {"lr": 0.02, "seed": 7}, "grid": {"layers": [3, 4]}}]})",
      "g");
  ASSERT_EQ(spec.rows.size(), 3u);
  ASSERT_EQ(spec.acts.size(), 2u);
  EXPECT_EQ(spec.acts[1].name, "two");
  EXPECT_EQ(spec.rows[0].seeds, 2u);
  EXPECT_EQ(spec.rows[1].seeds, 1u);
  EXPECT_EQ(spec.rows[1].first_seed, 7u);
  EXPECT_EQ(spec.rows[2].act, 1u);
  EXPECT_EQ(options_of(spec.rows[0])["lr"], Json(0.01));
  EXPECT_EQ(options_of(spec.rows[2])["lr"], Json(0.02));
  EXPECT_FALSE(options_of(spec.rows[1]).contains("seed"));
}

TEST(GridSpec, LeavesOutDefaultsThatWouldHaveNoEffect) {
  const auto row = [](const std::string& options) {
    return options_of(grid_from_json("{\"rows\": [" + options + "]}", "g").rows[0]);
  };
  EXPECT_EQ(row("{}")["heads"], Json(2));
  EXPECT_FALSE(row(R"({"d_model": 65})").contains("heads"));
  EXPECT_FALSE(row(R"({"optimizer": "sgd"})").contains("lr"));
  EXPECT_FALSE(row(R"({"model": "mlp"})").contains("seq_len"));
  EXPECT_FALSE(row(R"({"layer": "ffn"})").contains("heads"));
}

TEST(GridSpec, RefusesNonsenseAndNamesThePlace) {
  expect_in(grid_refusal("{\"grid\": "), {"my.json", "not JSON", "line 1"});
  expect_in(grid_refusal("[]"), {"my.json", "a grid is an object"});
  for (const char* empty : {"{}", R"({"grid": {}})", R"({"seeds": 2, "name": "mine"})", R"({"base": {}, "with_warmup": 20})"})
    expect_in(grid_refusal(empty), {"my.json: nothing is said of any run", "\"grid\"", "\"rows\"", "\"acts\"", "\"base\""});
  expect_in(grid_refusal(R"({"acts": [{"rows": [{}]}, {"name": "two"}]})"), {"my.json: acts[1]: nothing is said of any run"});
  expect_in(grid_refusal(R"({"gird": {}})"), {"gird", "did you mean grid?"});
  expect_in(grid_refusal(R"({"grid": {"layers": []}})"), {"my.json", "grid.layers is empty"});
  expect_in(grid_refusal(R"({"grid": {"layerz": [2]}})"), {"grid.layerz", "unknown field 'layerz'", "did you mean layers?"});
  expect_in(grid_refusal(R"({"grid": {"layers": [2, "x"]}})"), {"grid.layers[1]", "\"x\"", "whole number"});
  expect_in(grid_refusal(R"({"grid": {"arrangement": ["pre-lm"]}})"), {"grid.arrangement[0]", "pre-lm", "did you mean pre-ln?"});
  expect_in(grid_refusal(R"({"grid": {"seed": [1, 2]}})"), {"grid.seed", "\"seeds\": 3"});
  expect_in(grid_refusal(R"({"rows": []})"), {"rows", "one object of options or more"});
  expect_in(grid_refusal(R"({"rows": [{}, 3]})"), {"rows[1]", "an object of options"});
  expect_in(grid_refusal(R"({"seeds": 0})"), {"seeds is 0", "1 ... 100"});
  expect_in(grid_refusal(R"({"acts": []})"), {"acts", "one part or more"});
  expect_in(grid_refusal(R"({"acts": [{"grid": {"optimizer": ["adamm"]}}]})"), {"acts[0].grid.optimizer[0]", "adamm", "adamw"});
}

TEST(GridSpec, MayBeOneRow) {
  EXPECT_EQ(grid_from_json(R"({"base": {"layers": 6}})", "g").rows.size(), 1u);
  EXPECT_EQ(grid_from_json(R"({"rows": [{}]})", "g").rows.size(), 1u);
}

TEST(DefaultLab, CrossesPlacementsWithStarts) {
  const GridSpec spec = default_lab();
  ASSERT_EQ(spec.acts.size(), 4u);
  std::size_t runs = 0;
  std::map<std::string, std::set<std::string>> starts;  // by placement
  for (const GridRow& row : spec.rows) {
    const Json options = options_of(row);
    runs += row.seeds;
    EXPECT_EQ(options.at("layers"), Json(12));
    const Json* embeddings = options.find("embedding_std");
    if (options.at("warmup_steps") == Json(0))
      starts[options.at("arrangement").text()].insert(options.at("init").text() + (embeddings ? " " + embeddings->dump() : ""));
  }
  EXPECT_EQ(runs, 28u);
  const std::set<std::string> all{"xavier", "gpt2", "gpt2 0.125"};
  for (const char* placement : {"plain", "post-ln", "norm-skip", "pre-ln"}) EXPECT_EQ(starts[placement], all) << placement;
  std::map<std::string, std::size_t> seeds;  // the first sentence rests on three of each, GPT-2's weights on act 3
  for (const GridRow& row : spec.rows) seeds[concat(row.act + 1, " ", options_of(row).at("arrangement").text())] = row.seeds;
  for (const char* row : {"1 post-ln", "1 norm-skip", "1 pre-ln", "3 post-ln", "3 norm-skip", "4 post-ln"})
    EXPECT_EQ(seeds[row], 3u) << row;
  EXPECT_EQ(spec.rows.back().seeds, 1u);
  EXPECT_EQ(options_of(spec.rows.back())["warmup_steps"], Json(200));
  EXPECT_EQ(options_of(default_lab(R"({"steps": 30})").rows.back())["warmup_steps"], Json(20));
}

TEST(DefaultLab, AsksNoEmbeddingsOfAModelThatHasNone) {
  const GridSpec spec = default_lab(R"({"model": "mlp"})");
  ASSERT_EQ(spec.acts.size(), 3u);
  for (const GridRow& row : spec.rows) EXPECT_FALSE(options_of(row).contains("embedding_std"));
}

TEST(GridSpec, TakesSeedsOfARow) {
  const GridSpec spec = grid_from_json(R"({"seeds": 2, "rows": [{"layers": 2, "seeds": 5}, {"layers": 3}]})", "g");
  EXPECT_EQ(spec.rows[0].seeds, 5u);
  EXPECT_EQ(spec.rows[1].seeds, 2u);
  expect_in(grid_refusal(R"({"rows": [{"seeds": 0}]})"), {"my.json", "rows[0].seeds", "1 ... 100"});
}

TEST(GridSpec, IsReadBackFromItsJson) {
  GridSpec spec = default_lab(R"({"steps": 50, "seed": 4})");
  spec.with_warmup = 20;
  const GridSpec again = grid_from_json(to_json(spec), "again");
  EXPECT_EQ(again.with_warmup, 20u);
  ASSERT_EQ(again.acts.size(), spec.acts.size());
  ASSERT_EQ(again.rows.size(), spec.rows.size());
  for (std::size_t i = 0; i < spec.acts.size(); ++i) EXPECT_EQ(again.acts[i].note, spec.acts[i].note);
  for (std::size_t i = 0; i < spec.rows.size(); ++i) {
    EXPECT_EQ(again.rows[i].options, spec.rows[i].options);
    EXPECT_EQ(again.rows[i].first_seed, 4u);
    EXPECT_EQ(again.rows[i].seeds, spec.rows[i].seeds);
    EXPECT_EQ(again.rows[i].act, spec.rows[i].act);
  }
}

// Arithmetic.

TEST(Spread, IsThatOfASample) {
  const std::vector<double> values{2.0, 2.2, 2.4};
  const Spread spread = spread_of(values);
  EXPECT_NEAR(spread.mean, 2.2, 1e-12);
  EXPECT_NEAR(spread.deviation, 0.2, 1e-12);
  EXPECT_EQ(spread.least, 2.0);
  EXPECT_EQ(spread.most, 2.4);
  EXPECT_TRUE(std::isnan(spread_of(std::vector<double>{1.0}).deviation));
}

TEST(Difference, OfThreeSeedsIsWelchs) {
  // By hand: means 2.2 and 2.5, both deviations 0.2: sqrt(2 * 0.04 / 3) = 0.1633, 4 degrees of freedom, t = 2.776.
  const Spread a{.count = 3, .mean = 2.2, .deviation = 0.2}, b{.count = 3, .mean = 2.5, .deviation = 0.2};
  const MeanDifference found = difference_of(a, b);
  EXPECT_NEAR(found.difference, -0.3, 1e-12);
  EXPECT_NEAR(found.margin, 2.776 * std::sqrt(0.08 / 3), 1e-9);
  EXPECT_FALSE(found.clear());
  EXPECT_TRUE(difference_of(a, Spread{.count = 3, .mean = 3.2, .deviation = 0.2}).clear());
  // Student's t with 4 degrees of freedom, from tables: P(|T| > 2.7764) = 0.05, P(|T| > 8.6103) = 0.001, P(|T| > 0.7407) = 0.5.
  const auto p = [&](double t) {
    return difference_of(a, {.count = 3, .mean = 2.2 + t * std::sqrt(0.08 / 3), .deviation = 0.2}).p;
  };
  EXPECT_NEAR(p(2.7764), 0.05, 1e-5);
  EXPECT_NEAR(p(-8.6103), 0.001, 1e-6);
  EXPECT_NEAR(p(0.7407), 0.5, 1e-4);
  EXPECT_EQ(p(0), 1);
}

TEST(Difference, OfFewerThanThreeSeedsIsNeverClear) {
  EXPECT_FALSE(difference_of({.count = 1, .mean = 2}, {.count = 3, .mean = 9, .deviation = 0.1}).clear());
}

TEST(Difference, OfRunsWithoutALossIsNeverClear) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const Spread good{.count = 3, .mean = 2.2, .deviation = 0.2};
  for (const double bad : {nan, inf, -inf})
    for (const Spread& broken :
         {Spread{.count = 3, .mean = bad, .deviation = 0.2}, Spread{.count = 3, .mean = 2.2, .deviation = bad}})
      for (const MeanDifference& found :
           {difference_of(good, broken), difference_of(broken, good), difference_of(broken, broken)}) {
        EXPECT_FALSE(found.clear());
        EXPECT_TRUE(std::isnan(found.margin));
        EXPECT_EQ(found.p, 1);
      }
}

TEST(Difference, OfSpreadsWhoseSquaresUnderflowIsStillWelchs) {
  const auto scaled = [](double by) {
    return difference_of({.count = 3, .mean = 2.2 * by, .deviation = 0.2 * by},
                         {.count = 3, .mean = 2.5 * by, .deviation = 0.2 * by});
  };
  EXPECT_NEAR(scaled(1e-90).margin / scaled(1).margin, 1e-90, 1e-99);
  EXPECT_NEAR(scaled(1e-90).p, scaled(1).p, 1e-9);
}

/// Rows with these losses, all of them trained or all stuck.
GridResult made_up(const std::vector<std::vector<double>>& losses) {
  GridResult result;
  result.spec = grid_from_json(R"({"grid": {"arrangement": ["post-ln", "pre-ln", "deepnorm", "rezero"]}})", "g");
  for (std::size_t i = 0; i < losses.size(); ++i) {
    RowResult row{.row = result.spec.rows[i], .label = "row " + std::to_string(i), .options = result.spec.rows[i].options};
    row.baselines = {.floor = 1.8, .uniform = 3.8, .unigram = 3.4, .bigram = 2.1};
    for (const double loss : losses[i]) {
      row.runs.push_back(result.runs.size());
      result.runs.push_back({.state = RunState::done, .losses = {loss}});
      result.runs.back().judged = {.outcome = loss < 2.5 ? Outcome::trained : Outcome::stuck, .loss = loss};
    }
    result.rows.push_back(row);
  }
  summarise(result);
  return result;
}

TEST(Comparisons, SayWhatSoManySeedsDoNotDecide) {
  const Comparisons all = comparisons(made_up({{2.00, 2.01, 2.02}, {2.005, 2.015, 2.025}, {2.40, 2.41, 2.42}}));
  ASSERT_EQ(all.lines.size(), 2u);
  expect_in(all.lines[0], {"row 0 and row 1", "not decided with 3 seeds"});
  expect_in(all.lines[1], {"row 0 is below row 2 by 0.400"});
  EXPECT_TRUE(all.noise);
  EXPECT_FALSE(comparisons(made_up({{2.00, 2.01, 2.02}, {2.40, 2.41, 2.42}})).noise);
}

TEST(Comparisons, SayHowManySeedsEachHasWhereTheyDiffer) {
  const auto lines = comparisons(made_up({{2.00, 2.01, 2.02}, {2.005, 2.015, 2.025, 2.035, 2.045}})).lines;
  ASSERT_EQ(lines.size(), 1u);
  expect_in(lines[0], {"row 0 and row 1: not decided with 3 and 5 seeds (0.015, p 0."});
}

TEST(Comparisons, FindADifferenceThatNoNeighboursHave) {
  // By hand: deviations of 0.01, so t = 3 between neighbours (p 0.04, too much for three pairs) and 6 between the outer two.
  const auto lines = comparisons(made_up({{2.00, 2.01, 2.02}, {2.0245, 2.0345, 2.0445}, {2.049, 2.059, 2.069}})).lines;
  ASSERT_EQ(lines.size(), 2u);
  expect_in(lines[0], {"row 0 and row 1", "not decided with 3 seeds", "p 0.08"});
  expect_in(lines[1], {"row 0 is below row 2 by 0.049", "p 0.012"});
}

TEST(Comparisons, AreOfRowsWithTheSameData) {
  GridResult result = made_up({{2.00, 2.01, 2.02}, {2.40, 2.41, 2.42}});
  result.rows[1].options = R"({"arrangement": "pre-ln", "data": ["book.txt"]})";
  EXPECT_TRUE(comparisons(result).lines.empty());
}

TEST(Comparisons, AndPredictionsCountRowsThatAreTheSameOnce) {
  GridResult result = made_up({{2.00, 2.01, 2.02}, {2.40, 2.41, 2.42}, {}, {}});
  for (const std::size_t copy : {2u, 3u}) {
    result.rows[copy] = result.rows[0];
    result.rows[copy].label = "row 0 again";
  }
  for (RowResult& row : result.rows) row.prediction = Prediction{.forecast = Forecast::trains};
  summarise(result);
  const auto lines = comparisons(result).lines;
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines, comparisons(made_up({{2.00, 2.01, 2.02}, {2.40, 2.41, 2.42}})).lines);  // p too: there is one pair
  EXPECT_EQ(confusion_of(result).rows(), 2u);
  EXPECT_TRUE(result.is_repeated(3));
  EXPECT_FALSE(result.is_repeated(0));
}

TEST(Comparisons, LeaveOutRowsWithOneSeedAndSaySo) {
  const auto lines = comparisons(made_up({{2.0}, {2.4, 2.4, 2.4}})).lines;
  ASSERT_EQ(lines.size(), 1u);
  expect_in(lines[0], {"1 row", "not compared"});
}

TEST(Rows, SayWhatHappenedAndHowFarFromTheFloor) {
  const GridResult result = made_up({{2.0, 2.0, 3.4}, {3.4, 3.4, 2.0}});
  EXPECT_EQ(result.rows[0].happened, Happened::trains);
  EXPECT_EQ(result.rows[0].trained, 2u);
  EXPECT_NEAR(result.rows[0].distance, (2.0 + 2.0 + 3.4) / 3 - 1.8, 1e-12);
  EXPECT_EQ(result.rows[1].happened, Happened::does_not_train);
  EXPECT_EQ(result.rows[1].outcome_text(), "trained 1, stuck 2 of 3");
}

TEST(Rows, OfRunsThatAreTooShortAreNeitherAgreedNorDisagreed) {
  GridResult result = made_up({{3.4, 3.4, 3.4}, {2.0, 3.4, 3.4}, {2.0, 2.0, 3.4}, {3.4, 3.4, 3.4}});
  for (GridRun& run : result.runs)
    if (run.judged.outcome == Outcome::stuck) run.judged.outcome = Outcome::too_short;
  for (std::size_t i = 9; i < 11; ++i) result.runs[i].judged.outcome = Outcome::diverged;  // most of the last row
  for (RowResult& row : result.rows) row.prediction = Prediction{.forecast = Forecast::trains};
  summarise(result);
  EXPECT_EQ(result.rows[0].happened, Happened::too_short);
  EXPECT_EQ(result.rows[0].outcome_text(), "too short 3 of 3");
  EXPECT_EQ(result.rows[1].happened, Happened::too_short);  // the other two decide
  EXPECT_EQ(result.rows[2].happened, Happened::trains);     // whatever becomes of the third
  EXPECT_EQ(result.rows[3].happened, Happened::does_not_train);
  EXPECT_EQ(result.rows[3].outcome_text(), "diverged 2, too short 1 of 3");
  EXPECT_FALSE(result.rows[0].agreed().has_value());
  EXPECT_FALSE(result.rows[1].agreed().has_value());
  EXPECT_TRUE(*result.rows[2].agreed());
  EXPECT_FALSE(*result.rows[3].agreed());
  EXPECT_FALSE(result.rows[0].cause.has_value());
  EXPECT_FALSE(result.rows[0].slow());
  EXPECT_EQ(confusion_of(result).rows(), 2u);
  result.folder = "lab";
  const Json json = parsed(to_json(result), "lab.json");
  EXPECT_EQ(json["rows"][0]["happened"], Json("too short to tell"));
  EXPECT_EQ(json["rows"][0]["outcomes"][0], Json("too short to tell"));
  EXPECT_TRUE(json["rows"][0]["agreed"].is_null());
}

TEST(Rows, AreNotSaidToFailWithMoreWarmupByRunsThatAreTooShort) {
  GridResult result = made_up({{3.4}, {3.4}});
  const auto become = [&](std::size_t row, const char* options) {
    result.rows[row].row.options = result.rows[row].options = options;
  };
  become(0, R"({"arrangement": "post-ln", "warmup_steps": 0, "steps": 300})");
  become(1, R"({"arrangement": "post-ln", "warmup_steps": 200, "steps": 300})");
  result.runs[1].judged.outcome = Outcome::too_short;
  summarise(result);
  EXPECT_EQ(result.rows[0].happened, Happened::does_not_train);
}

TEST(Rows, NeedWarmupWhereACopyWithMoreOfItTrains) {
  GridResult result = made_up({{3.4}, {2.0}, {3.4}, {3.4}});
  const auto become = [&](std::size_t row, const char* options) {
    result.rows[row].row.options = result.rows[row].options = options;
  };
  become(0, R"({"arrangement": "post-ln", "warmup_steps": 0, "steps": 300})");
  become(1, R"({"arrangement": "post-ln", "warmup_steps": 200, "steps": 300})");
  become(2, R"({"arrangement": "plain", "warmup_steps": 0, "steps": 300})");
  become(3, R"({"arrangement": "plain", "warmup_steps": 200, "steps": 300})");
  summarise(result);
  EXPECT_EQ(result.rows[0].happened, Happened::needs_warmup);
  EXPECT_EQ(result.rows[2].happened, Happened::will_not_train);
  EXPECT_EQ(result.rows[3].happened, Happened::will_not_train);

  for (RowResult& row : result.rows) row.prediction = Prediction{.forecast = Forecast::needs_warmup};
  result.rows[1].prediction->forecast = Forecast::trains;
  EXPECT_TRUE(*result.rows[0].agreed());
  EXPECT_FALSE(*result.rows[2].agreed());
  const Confusion confusion = confusion_of(result);
  EXPECT_EQ(confusion.counts[1][2], 2u);
  EXPECT_NEAR(confusion.balanced_accuracy(), 2.0 / 3, 1e-12);
  EXPECT_EQ(confusion.two_way_accuracy(), 1.0);
}

}  // namespace
}  // namespace addnorm
