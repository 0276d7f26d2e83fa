// Verdicts of published claims about depth, warm-up and optimizers (C1 to C14, C34 to C37), on made-up numbers: each can come out
// every way.
#include <cmath>

#include "addnorm/core/error.h"
#include "lab/made_up.h"

namespace addnorm {
namespace {

TEST(Verdict, OfPublishedClaimsIsSeenMixedOrNotSeen) {
  const auto judged = [](double post, double pre) {
    Numbers numbers{{"post-ln", {post}}, {"pre-ln", {pre}}, {"pre-ln-nofinal", {0}}};
    for (const char* name : {"post-ln", "pre-ln", "pre-ln-nofinal"}) numbers.push_back({concat(name, ", usual model"), {0}});
    return verdict_of("C3", numbers);
  };
  EXPECT_EQ(judged(0.02, -0.53), "seen at this scale");
  EXPECT_EQ(judged(0.4, -0.53), "mixed");
  EXPECT_EQ(judged(0.4, 0.4), "not seen");
}

// Published claims that train

/// Losses do not decide where shares of trained runs do. Half of them: one of two.
void add_share(Numbers& numbers, const std::string& name, double trained) {
  numbers.push_back({name, {trained == 1 ? 0.4 : 2.8}});
  numbers.push_back({name + ", trained", trained == 0.5 ? std::vector<double>{1, 0} : std::vector<double>{trained}});
}
/// The same share at every rate of the grid but the last, where everything fails.
void add_line_of(Numbers& numbers, const std::string& line, double trained) {
  for (const char* rate : {" at 0.001", " at 0.003"}) add_share(numbers, line + rate, trained);
  add_share(numbers, line + " at 0.005", 0);
}

TEST(Verdict, OfDegradationNeedsSkipsThatKeepTheLoss) {
  const auto judged = [](std::vector<double> plain, std::vector<double> residual) {
    return verdict_of("C1", {{"plain 20", {1, 1.1, 1.1}},
                             {"plain 56", std::move(plain)},
                             {"residual 20", {0.5, 0.51, 0.52}},
                             {"residual 56", std::move(residual)},
                             {"gradient of plain 56", {0.8, 0.9}}});
  };
  EXPECT_EQ(judged({2, 2.1}, {0.51, 0.51, 0.52}), "seen at this scale");
  EXPECT_EQ(judged({2, 2.1}, {0.7, 0.7, 0.71}), "mixed");
  EXPECT_EQ(judged({2, 2.1}, {0.4, 0.5, 0.6}), "mixed");  // who knows
  EXPECT_EQ(judged({1.05, 2.1}, {0.5, 0.51, 0.52}), "not seen");
}

TEST(Verdict, OfWarmUpAndRAdamNeedsARateThatSeparatesThem) {
  const auto judged = [](double post, double warm, double pre, double radam) {
    Numbers numbers;
    add_line_of(numbers, "post-LN", post);
    add_line_of(numbers, "post-LN with warm-up", warm);
    add_line_of(numbers, "post-LN with RAdam", radam);
    add_line_of(numbers, "pre-LN", pre);
    add_line_of(numbers, "pre-LN with warm-up", 1);
    add_line_of(numbers, "pre-LN with RAdam", 1);
    return verdict_of("C6", numbers);
  };
  EXPECT_EQ(judged(0, 1, 1, 1), "seen at this scale");
  EXPECT_EQ(judged(0, 1, 1, 0.5), "mixed");
  EXPECT_EQ(judged(1, 1, 1, 1), "not seen");
  EXPECT_EQ(judged(0, 0, 1, 1), "not seen");
  EXPECT_EQ(judged(0, 0.5, 1, 1), "not decided");  // seeds disagree
  EXPECT_EQ(judged(0.5, 1, 1, 1), "not decided");
  EXPECT_EQ(judged(0, 1, 0, 1), "not seen");
}

TEST(Verdict, OfRAdamLooksAtEveryRateWhereWarmUpDecides) {
  const auto judged = [](double adam, double radam, double radam_at_the_second) {
    Numbers numbers;
    add_line_of(numbers, "Adam", adam);
    add_line_of(numbers, "Adam with warm-up", 1);
    add_share(numbers, "RAdam at 0.001", radam);
    add_share(numbers, "RAdam at 0.003", radam_at_the_second);
    add_share(numbers, "RAdam at 0.005", 0);
    return verdict_of("C34", numbers);
  };
  EXPECT_EQ(judged(0, 1, 1), "seen at this scale");
  EXPECT_EQ(judged(0, 1, 0), "mixed");
  EXPECT_EQ(judged(0, 0.5, 0.5), "not decided");
  EXPECT_EQ(judged(0.5, 1, 1), "not decided");
  EXPECT_EQ(judged(0, 0, 0), "not seen");
  EXPECT_EQ(judged(1, 1, 1), "not decided");  // nothing was to be made up for
}

TEST(Verdict, OfAdafactorSaysWhetherItIsTheClipping) {
  const auto judged = [](double adam, double clipped, double unclipped) {
    Numbers numbers;
    add_line_of(numbers, "Adam", adam);
    add_line_of(numbers, "Adam with warm-up", 1);
    add_line_of(numbers, "Adafactor", clipped);
    add_line_of(numbers, "Adafactor without clipping", unclipped);
    return verdict_of("C35", numbers);
  };
  EXPECT_EQ(judged(0, 1, 0), "seen at this scale");
  EXPECT_EQ(judged(0, 1, 1), "mixed");
  EXPECT_EQ(judged(0, 0, 0), "not seen");
  EXPECT_EQ(judged(0, 0.5, 0), "not decided");
  EXPECT_EQ(judged(0, 1, 0.5), "mixed");
  EXPECT_EQ(judged(1, 1, 0), "not decided");
}

TEST(Verdict, OfFewerStepsComparesEachAtItsBestRate) {
  const auto judged = [](double pre, double trained, double post_trained = 1) {
    Numbers numbers;
    for (const char* rate : {" at 0.0005", " at 0.001", " at 0.002", " at 0.004"}) {
      const bool best = std::string_view(rate) == " at 0.002";
      numbers.push_back({concat("pre-ln", rate), {best ? pre : 301, best ? pre + 2 : 301}});
      numbers.push_back({concat("pre-ln", rate, ", trained"), {best ? trained : 0}});
      numbers.push_back({concat("post-ln", rate), {best ? 200.0 : 301, best ? 210.0 : 301}});
      numbers.push_back({concat("post-ln", rate, ", trained"), {best ? post_trained : 0}});
    }
    return verdict_of("C7", numbers);
  };
  EXPECT_EQ(judged(120, 1), "seen at this scale");
  EXPECT_EQ(judged(190, 1), "mixed");
  EXPECT_EQ(judged(204, 1), "not seen");
  EXPECT_EQ(judged(120, 0.5), "not seen");
  EXPECT_EQ(judged(120, 1, 0), "mixed");  // against one that never gets there
}

TEST(Verdict, OfDeepEncodersNeedsBothFormsOfDlcl) {
  const auto judged = [](double post, double pre, double dlcl_post) {
    Numbers numbers;
    add_share(numbers, "post-ln", post);
    add_share(numbers, "pre-ln", pre);
    add_share(numbers, "dlcl-pre", 1);
    add_share(numbers, "dlcl-post", dlcl_post);
    return verdict_of("C8", numbers);
  };
  EXPECT_EQ(judged(0, 1, 1), "seen at this scale");
  EXPECT_EQ(judged(0, 1, 0.5), "mixed");
  EXPECT_EQ(judged(0.5, 1, 1), "not decided");
  EXPECT_EQ(judged(1, 1, 1), "not seen");
  EXPECT_EQ(judged(0, 0, 1), "not seen");
}

TEST(Verdict, OfEighteenLayersNeedsPostLnToTrainAtSix) {
  const auto judged = [](double post, double six, double admin, double keel) {
    Numbers numbers;
    add_share(numbers, "post-ln", post);
    add_share(numbers, "post-ln, 6 layers", six);
    add_share(numbers, "admin", admin);
    add_share(numbers, "keel", keel);
    for (const char* name : {"pre-ln", "admin-const", "deepnorm", "b2t"}) add_share(numbers, name, 1);
    return verdict_of("C9", numbers);
  };
  EXPECT_EQ(judged(0, 1, 1, 1), "seen at this scale");
  EXPECT_EQ(judged(0, 1, 1, 0), "mixed");
  EXPECT_EQ(judged(0, 1, 0, 1), "not seen");
  EXPECT_EQ(judged(0, 0, 1, 1), "not seen");
  EXPECT_EQ(judged(1, 1, 1, 1), "not seen");
  EXPECT_EQ(judged(0.5, 1, 1, 1), "not decided");
  EXPECT_EQ(judged(0, 1, 0.5, 1), "not decided");
}

TEST(Verdict, OfEvenUpdatesNeedsARunThatFails) {
  const auto judged = [](double trained, double gradients, double updates) {
    Numbers numbers{{"gradients", {gradients}}, {"updates", {updates}}};
    add_share(numbers, "loss", trained);
    return verdict_of("C12", numbers);
  };
  EXPECT_EQ(judged(0, 9, 1.2), "seen at this scale");
  EXPECT_EQ(judged(0, 1.5, 1.2), "mixed");
  EXPECT_EQ(judged(0, 9, 5), "not seen");
  EXPECT_EQ(judged(1, 9, 1.2), "not decided");
  EXPECT_EQ(judged(0.5, 9, 1.2), "not decided");
}

TEST(Verdict, OfDeepNormLooksAtLossesAndAtOneStep) {
  const auto judged = [](double deepnorm, double post, double power) {
    return verdict_of("C13", {{"deepnorm 100", {0.5}},
                              {"deepnorm 200", {deepnorm}},
                              {"post-ln 100", {0}},
                              {"post-ln 200", {post}},
                              {"deepnorm, power", {power}},
                              {"post-ln, power", {0.5}},
                              {"deepnorm, power with norms and biases", {0.8}},
                              {"post-ln, power with norms and biases", {0.8}}});
  };
  EXPECT_EQ(judged(0.4, 0, 0.1), "seen at this scale");
  EXPECT_EQ(judged(0.4, 0, 0.5), "mixed");
  EXPECT_EQ(judged(0.05, 0, 0.1), "not seen");
  EXPECT_EQ(judged(std::nan(""), 0, 0.1), "not seen");
  EXPECT_EQ(judged(0.4, 0.3, 0.1), "not decided");  // nothing that it is needed for
  EXPECT_EQ(judged(0.05, 0.3, 0.1), "not seen");
}

TEST(Verdict, OfReZeroCountsStepsAndLooksAt128Layers) {
  const auto judged = [](double steps, double deep, double pre_trained = 1) {
    Numbers numbers{{"128 layers", {deep}}};
    for (const char* rate : {" at 0.001", " at 0.002", " at 0.004"}) {
      const bool best = std::string_view(rate) == " at 0.002";
      numbers.push_back({concat("pre-ln", rate), {best ? 100.0 : 150}});
      numbers.push_back({concat("rezero", rate), {best ? steps : 301}});
      numbers.push_back({concat("pre-ln", rate, ", trained"), {pre_trained}});
      numbers.push_back({concat("rezero", rate, ", trained"), {best ? 1.0 : 0}});
      for (const char* name : {"pre-ln", "rezero"})
        numbers.push_back({concat(name, rate, ", held out"), {best ? 2.1 : std::nan("")}});
    }
    return verdict_of("C14", numbers);
  };
  EXPECT_EQ(judged(60, 0.5), "seen at this scale");
  EXPECT_EQ(judged(60, 0), "mixed");
  EXPECT_EQ(judged(90, 0.5), "mixed");
  EXPECT_EQ(judged(90, std::nan("")), "not seen");
  EXPECT_EQ(judged(60, 0.5, 0), "mixed");  // against one that never gets there
}

TEST(Verdict, OfPreAndPostLnAtTheirBestMayBeNoDifference) {
  const auto judged = [](double pre, double post_trained = 1) {
    Numbers numbers;
    for (const char* rate : {" at 0.0005", " at 0.001", " at 0.002", " at 0.004"}) {
      numbers.push_back({concat("post-ln", rate, ", trained"), {post_trained}});
      numbers.push_back({concat("pre-ln", rate, ", trained"), {1}});
      const double worse = std::string_view(rate) == " at 0.001" ? 0 : std::nan("");
      numbers.push_back({concat("post-ln", rate), {2.1 + worse, 2.12, 2.14}});
      numbers.push_back({concat("pre-ln", rate), {pre + worse, pre + 0.02, pre + 0.04}});
    }
    return verdict_of("C37", numbers);
  };
  EXPECT_EQ(judged(2.3), "seen at this scale");
  EXPECT_EQ(judged(2.11), "mixed");
  EXPECT_EQ(judged(1.9), "not seen");
  EXPECT_EQ(judged(1.9, 0), "mixed");  // both have to train
  EXPECT_EQ(judged(std::nan("")), "mixed");
}

TEST(Verdict, OfPreAndPostLnSaysWhichIsTheHigherOne) {
  const auto judged = [](double post) {
    Numbers numbers;
    for (const char* rate : {" at 0.0005", " at 0.001", " at 0.002", " at 0.004"})
      for (const auto& [stack, loss] : {std::pair{"post-ln", post}, {"pre-ln", 2.1}}) {
        numbers.push_back({concat(stack, rate), {loss, loss + 0.02, loss + 0.04}});
        numbers.push_back({concat(stack, rate, ", trained"), {1, 1, 1}});
      }
    return claim_named("C37").judge(made_up(numbers)).measured;
  };
  EXPECT_NE(judged(2).find("post-LN is lower by 0.1, 95 % interval "), std::string::npos) << judged(2);
  EXPECT_NE(judged(2.2).find("post-LN is higher by 0.1, 95 % interval "), std::string::npos) << judged(2.2);
}

}  // namespace
}  // namespace addnorm
