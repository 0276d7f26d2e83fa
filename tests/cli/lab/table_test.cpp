// What a lab prints at its end, of results that nobody ran.
#include <gtest/gtest.h>

#include "addnorm/core/error.h"
#include "cli/lab/lab.h"

namespace addnorm::cli {
namespace {

struct Made {
  std::string arrangement;
  std::vector<double> losses;
};

/// Rows that trained, one per arrangement, with a seed for each loss.
GridResult made_up(const std::vector<Made>& rows) {
  GridResult result;
  result.spec.acts.emplace_back();
  result.folder = "lab";
  for (const Made& made : rows) {
    const std::string options = concat(R"({"arrangement": ")", made.arrangement, R"(", "layers": 12})");
    RowResult row{.row = {.options = options, .seeds = made.losses.size(), .place = "g"}, .label = made.arrangement};
    row.label_in_act = row.arrangement = made.arrangement;
    row.options = options;
    for (const double loss : made.losses) {
      row.runs.push_back(result.runs.size());
      result.runs.push_back(
          {.folder = concat("lab/", made.arrangement), .steps = 300, .state = RunState::done, .losses = {loss}});
      result.runs.back().judged = {.outcome = Outcome::trained, .loss = loss};
    }
    result.rows.push_back(row);
    result.spec.rows.push_back(row.row);
  }
  summarise(result);
  return result;
}
std::string trained_longer(const std::vector<Made>& rows) {
  for (const std::string& command : next_commands(made_up(rows)))
    if (command.find("--steps 3000") != std::string::npos) return command.substr(command.rfind('/') + 1);
  return "";
}

TEST(LabTable, SaysOfWhichRowsTheBestLossIs) {
  const std::string text =
      lab_table(made_up({{"post-ln", {2.00, 2.01, 2.02}}, {"pre-ln", {2.40, 2.41, 2.42}}, {"norm-skip", {1.9}}}), {});
  EXPECT_NE(text.find("\nOf the rows with 3 seeds or more, the best loss against the others (Welch's test over seeds, p by Holm "
                      "for all pairs):\n  post-ln is below pre-ln"),
            std::string::npos)
      << text;
  const std::string one_each = lab_table(made_up({{"post-ln", {2.0}}, {"pre-ln", {2.4}}}), {});
  EXPECT_EQ(one_each.find("best loss"), std::string::npos) << one_each;
  EXPECT_NE(one_each.find("2 rows that trained have fewer than 3 seeds"), std::string::npos) << one_each;
}

TEST(LabTable, RefersToTheRowThatStartsAlike) {
  GridResult result =
      made_up({{"post-ln", {2.00, 2.01, 2.02}}, {"pre-ln", {2.40}}, {"post-ln", {2.00, 2.01, 2.02}}, {"pre-ln", {2.4}}});
  result.spec.acts = {{.name = "init arrangement"}, {.name = "init xavier"}};
  result.rows[2].row.act = result.rows[3].row.act = 1;
  result.rows[2].same_as = 0;
  result.rows[3].same_as = std::nullopt;
  for (const std::string& text : {lab_table(result, {}), prediction_table(result, {})}) {
    EXPECT_NE(text.find("post-ln  the same as in init arrangement\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("pre-ln   the same"), std::string::npos) << text;
  }
  result.rows[2].row.act = 0;
  EXPECT_NE(lab_table(result, {}).find("post-ln  the same as above\n"), std::string::npos) << lab_table(result, {});
  result.rows[2].label_in_act = "post-ln, x";
  EXPECT_NE(lab_table(result, {}).find("post-ln, x  the same as post-ln\n"), std::string::npos) << lab_table(result, {});
}

TEST(NextCommands, TrainLongerWhatHasAllSeeds) {
  EXPECT_EQ(trained_longer({{"post-ln", {2.00, 2.01, 2.02}}, {"pre-ln", {1.9}}}), "post-ln");
  EXPECT_EQ(trained_longer({{"post-ln", {2.00, 2.01, 2.02}}, {"pre-ln", {1.90, 1.91, 1.92}}}), "pre-ln");
  EXPECT_EQ(trained_longer({{"post-ln", {2.0}}, {"pre-ln", {1.9}}}), "pre-ln");
}

TEST(NextCommands, TrainTheMisprintLongerOnlyWhereItIsDecidedToBeBetter) {
  EXPECT_EQ(trained_longer({{"norm-skip", {2.000, 2.010, 2.020}}, {"post-ln", {2.001, 2.011, 2.021}}}), "post-ln");
  EXPECT_EQ(trained_longer({{"norm-skip", {2.00, 2.01, 2.02}}, {"post-ln", {2.40, 2.41, 2.42}}}), "norm-skip");
  EXPECT_EQ(trained_longer({{"norm-skip", {1.999}}, {"post-ln", {2.0}}}), "post-ln");
  EXPECT_EQ(trained_longer({{"norm-skip", {1.999}}}), "norm-skip");
}

}  // namespace
}  // namespace addnorm::cli
