// Which rows confirm the cause of another's failure, by results that nobody ran.
#include <gtest/gtest.h>

#include "addnorm/lab/grid_result.h"
#include "lab/grid/changes.h"
#include "lab/outcome/confirm.h"
#include "lab/refusals.h"

namespace addnorm {
namespace {

/// A row that failed by this cause, and others; each with one run.
struct Confirming : testing::Test {
  std::size_t add(const std::string& options, bool trains, CauseKind kind = CauseKind::tokens_alike) {
    RowResult row{.row = {.options = options, .seeds = 1, .place = "g"}, .options = options};
    row.runs = {result.runs.size()};
    GridRun run{.steps = 300, .work = 300, .state = RunState::done, .losses = std::vector<double>(300, 2.0)};
    run.judged = {.outcome = trains ? Outcome::trained : Outcome::stuck, .loss = 2};
    run.seconds = 10;
    if (!trains) run.cause = Cause{.kind = kind, .text = "so"};
    result.runs.push_back(run);
    result.rows.push_back(row);
    result.spec.rows.push_back(row.row);
    return result.rows.size() - 1;
  }
  const Cause& noted(std::size_t row) {
    summarise(result);
    note_confirmations(result);
    return *result.rows[row].cause;
  }
  std::vector<AddedRow> rows_to_confirm(double seconds) const { return rows_that_would_confirm(result, seconds); }
  GridResult result;
};

TEST_F(Confirming, IsDoneByAChangeThatBearsOnTheCause) {
  const std::size_t failed = add(R"({"arrangement": "post-ln", "layers": 12, "lr": 0.001, "warmup_steps": 0})", false);
  add(R"({"arrangement": "pre-ln", "layers": 12, "lr": 0.001, "warmup_steps": 0})", true);
  EXPECT_TRUE(noted(failed).confirmed);
  EXPECT_EQ(noted(failed).by, "as pre-ln: trains, 1 of 1");
  add(R"({"arrangement": "post-ln", "layers": 12, "lr": 0.001, "warmup_steps": 200})", true);
  EXPECT_EQ(noted(failed).by, "with 200 warm-up steps: trains, 1 of 1");
}

TEST_F(Confirming, IsNotDoneByWhatHasNothingToDoWithTheCause) {
  const std::size_t failed = add(R"({"arrangement": "post-ln", "layers": 12, "lr": 0.001, "warmup_steps": 0})", false);
  add(R"({"arrangement": "post-ln", "layers": 6, "lr": 0.001, "warmup_steps": 0})", true);
  EXPECT_FALSE(noted(failed).confirmed);
  EXPECT_EQ(noted(failed).by, "trains with 6 layers (1 of 1)");
  add(R"({"arrangement": "post-ln", "layers": 12, "lr": 0.0001, "warmup_steps": 0})", false);
  EXPECT_EQ(noted(failed).by, "trains with 6 layers (1 of 1); with lr 0.0001: does not train either");

  const std::size_t late = add(R"({"arrangement": "keel", "layers": 12})", false, CauseKind::late_divergence);
  add(R"({"arrangement": "pre-ln", "layers": 12})", true);
  EXPECT_FALSE(noted(late).confirmed);
  EXPECT_EQ(noted(late).by, "trains as pre-ln (1 of 1)");
}

TEST_F(Confirming, IsReportedBesideWhatWasTriedUnlessThatSaysIt) {
  const std::size_t failed =
      add(R"({"arrangement": "post-ln", "layers": 12, "qk_norm": "none"})", false, CauseKind::attention_collapse);
  add(R"({"arrangement": "post-ln", "layers": 12, "qk_norm": "rmsnorm"})", true);
  add(R"({"arrangement": "pre-ln", "layers": 12, "qk_norm": "none"})", false, CauseKind::attention_collapse);
  const Cause& cause = noted(failed);
  note_cures(result);
  EXPECT_TRUE(cause.confirmed);
  EXPECT_EQ(cause.by_rows, std::vector<std::size_t>{1});
  EXPECT_EQ(result.rows[failed].tried.at(0).change, "pre-ln");
  EXPECT_FALSE(result.rows[failed].by_is_tried()) << "no cure is a norm of queries and keys";

  const std::size_t alike = add(R"({"arrangement": "norm-skip", "layers": 6})", false);
  add(R"({"arrangement": "rezero", "layers": 6})", true);
  EXPECT_TRUE(noted(alike).confirmed);
  note_cures(result);
  EXPECT_TRUE(result.rows[alike].by_is_tried());
}

TEST_F(Confirming, IsNotDoneByTwoChanges) {
  const std::size_t failed = add(R"({"arrangement": "post-ln", "layers": 24, "warmup_steps": 200})", false);
  add(R"({"arrangement": "deepnorm", "layers": 24, "warmup_steps": 0})", true);
  EXPECT_FALSE(noted(failed).confirmed);
  EXPECT_EQ(noted(failed).by, "trains as deepnorm, without any warm-up (1 of 1)");
  add(R"({"arrangement": "post-ln", "layers": 12, "warmup_steps": 200})", true);  // says even less
  EXPECT_EQ(noted(failed).by, "trains as deepnorm, without any warm-up (1 of 1)");

  result.rows[1].arrangement = "deepnorm";
  const auto added = rows_to_confirm(100);  // one of the two
  ASSERT_EQ(added.size(), 1u);
  expect_in(added[0].row.options, {"\"arrangement\":\"deepnorm\"", "\"warmup_steps\":200", "\"layers\":24"});
}

TEST_F(Confirming, IsNotDoneByARunThatShowsTheSame) {
  const std::size_t failed = add(R"({"arrangement": "post-ln", "layers": 12, "warmup_steps": 0})", false);
  add(R"({"arrangement": "post-ln", "layers": 12, "warmup_steps": 200})", true);
  result.runs[1].signs = {CauseKind::tokens_alike};
  EXPECT_FALSE(noted(failed).confirmed);
  EXPECT_EQ(noted(failed).by, "trains with 200 warm-up steps, though its probes show the same (1 of 1)");
  result.runs[1].signs = {CauseKind::stream_grows};
  EXPECT_TRUE(noted(failed).confirmed);
}

TEST_F(Confirming, ReadsPlannedOptionsAndNotOnlyThoseThatAreSaid) {
  add(R"({"arrangement": "post-ln", "lr": 0.001, "steps": 300, "warmup_steps": 15})", false);
  result.rows[0].row.options = result.spec.rows[0].options = R"({"arrangement": "post-ln"})";
  summarise(result);
  const auto added = rows_to_confirm(100);
  ASSERT_EQ(added.size(), 1u);
  expect_in(added[0].row.options, {"\"warmup_steps\":200"});
  EXPECT_EQ(GridChanges(result).warmup(0), 15u);

  // What only follows from another option is no change of its own; the warm-up is.
  add(R"({"arrangement": "post-ln", "lr": 0.0001, "min_lr": 0.00001, "steps": 300, "warmup_steps": 15})", true);
  result.rows[0].options = R"({"arrangement": "post-ln", "lr": 0.001, "min_lr": 0.0001, "steps": 300, "warmup_steps": 15})";
  result.rows[1].row.options = R"({"arrangement": "post-ln", "lr": 0.0001})";
  EXPECT_EQ(GridChanges(result).between(0, 1), std::vector<std::string>{"lr"});
  result.rows[1].options = R"({"arrangement": "post-ln", "lr": 0.001, "min_lr": 0.0001, "steps": 100, "warmup_steps": 5})";
  result.rows[1].row.options = R"({"arrangement": "post-ln", "steps": 100})";
  EXPECT_EQ(GridChanges(result).between(0, 1), (std::vector<std::string>{"steps", "warmup_steps"}));
}

TEST_F(Confirming, CountsAllStepsOfACopyAgainstItsTime) {
  add(R"({"arrangement": "post-ln", "lr": 0.001, "steps": 300, "warmup_steps": 0})", false, CauseKind::gradient_explodes);
  result.runs[0].losses.resize(3);  // it broke off, after a tenth of a second
  result.runs[0].seconds = 0.1;
  summarise(result);
  EXPECT_TRUE(rows_to_confirm(5).empty());
  EXPECT_EQ(rows_to_confirm(15).size(), 1u);
}

}  // namespace
}  // namespace addnorm
