// Claims under several rules of initialisation: one verdict out of two, and what a claim says of its start and of other claims.
#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "claims/again.h"
#include "claims/bench/comparison.h"
#include "claims/bench/experiment.h"
#include "claims/bench/small_runs.h"
#include "core/json/json.h"
#include "core/json/record.h"
#include "lab/made_up.h"
#include "lab/refusals.h"
#include "support/folder.h"

namespace addnorm {
namespace {

ClaimVerdict verdict(Finding finding, const char* condition = "") { return {finding, condition, "measured"}; }

std::string both(ClaimKind kind, const ClaimVerdict& xavier, const ClaimVerdict& gpt2) {
  return verdict_text(kind, combined(kind, {{.init = "xavier", .verdict = xavier}, {.init = "gpt2", .verdict = gpt2}}));
}
std::string statement(const ClaimVerdict& xavier, const ClaimVerdict& gpt2) { return both(ClaimKind::statement, xavier, gpt2); }
std::string published(Finding xavier, Finding gpt2) { return both(ClaimKind::published, verdict(xavier), verdict(gpt2)); }

const ClaimVerdict kYes = verdict(Finding::yes), kNo = verdict(Finding::no), kOpen = verdict(Finding::open);
const ClaimVerdict kShallow = verdict(Finding::partly, "the stack is shallow");

TEST(CombinedVerdict, OfRulesThatAgreeIsTheirs) {
  EXPECT_EQ(statement(kYes, kYes), "true");
  EXPECT_EQ(statement(kNo, kNo), "false");
  EXPECT_EQ(statement(kOpen, kOpen), "not decided");
  EXPECT_EQ(statement(kShallow, kShallow), "true only if the stack is shallow");
  EXPECT_EQ(published(Finding::yes, Finding::yes), "seen at this scale");
  EXPECT_EQ(published(Finding::partly, Finding::partly), "mixed");
  EXPECT_EQ(published(Finding::no, Finding::no), "not seen");
}

TEST(CombinedVerdict, OfAStatementMakesTheWeightsACondition) {
  EXPECT_EQ(statement(kYes, kNo), "true only if the weights are Xavier's; with GPT-2's it is false");
  EXPECT_EQ(statement(kNo, kYes), "true only if the weights are GPT-2's; with Xavier's it is false");
  EXPECT_EQ(statement(kShallow, kYes), "true only if the weights are GPT-2's, or they are Xavier's and the stack is shallow");
  EXPECT_EQ(statement(kShallow, kNo), "true only if the weights are Xavier's and the stack is shallow; with GPT-2's it is false");
  EXPECT_EQ(statement(kShallow, verdict(Finding::partly, "it is warmed up")),
            "true only if the weights are Xavier's and the stack is shallow, or they are GPT-2's and it is warmed up");
}

TEST(CombinedVerdict, IsNoMoreThanWhatWasDecided) {
  EXPECT_EQ(statement(kYes, kOpen), "true with Xavier's weights; with GPT-2's it is not decided");
  EXPECT_EQ(statement(kOpen, kShallow), "true with GPT-2's weights if the stack is shallow; with Xavier's it is not decided");
  EXPECT_EQ(statement(kOpen, kNo), "false with GPT-2's weights; with Xavier's it is not decided");
  EXPECT_EQ(published(Finding::no, Finding::open), "not seen with Xavier's weights; with GPT-2's it is not decided");
  EXPECT_EQ(published(Finding::yes, Finding::open), "mixed: seen with Xavier's weights, not decided with GPT-2's");
}

TEST(CombinedVerdict, OfAPublishedClaimIsMixedWhereRulesDiffer) {
  EXPECT_EQ(published(Finding::yes, Finding::no), "mixed: seen with Xavier's weights, not seen with GPT-2's");
  EXPECT_EQ(published(Finding::partly, Finding::yes), "mixed: partly seen with Xavier's weights, seen with GPT-2's");
  EXPECT_EQ(published(Finding::no, Finding::partly), "mixed: not seen with Xavier's weights, partly seen with GPT-2's");
}

TEST(CombinedVerdict, HasWhatWasMeasuredUnderEachRule) {
  const ClaimVerdict one = combined(ClaimKind::statement, {{.init = "xavier", .verdict = {Finding::yes, "", "loss 2"}},
                                                           {.init = "gpt2", .verdict = {Finding::yes, "", "loss 3"}},
                                                           {.init = "t5", .verdict = {Finding::yes, "", "loss 4"}}});
  EXPECT_EQ(one.measured, "Xavier's weights: loss 2. GPT-2's weights: loss 3. t5 weights: loss 4");
  EXPECT_THROW(combined(ClaimKind::statement, {}), UsageError);
}

TEST(Rules, AreThoseOfTheTable) {
  const Claim& compares = claim_named("S12");
  EXPECT_EQ(run_claim(compares, {.seeds = 1}).by_rule.size(), kClaimInits.size());
  const ClaimResult one = run_claim(compares, {.seeds = 1, .init = "BERT"});
  ASSERT_EQ(one.by_rule.size(), 1u);
  EXPECT_EQ(one.by_rule[0].init, "bert");
  EXPECT_EQ(parsed(to_json(compares, one), "S12")["command"].text(), "addnorm lab claims --only S12 --seeds 1 --init bert");
  EXPECT_THROW(run_claim(compares, {.seeds = 1, .init = "xavyer"}), UsageError);
  EXPECT_NE(refusal<UsageError>([&] { run_claim(compares, {.init = "arrangement"}); }).find("start in another way"),
            std::string::npos);
  EXPECT_NE(refusal<UsageError>([] { run_claim(claim_named("S11"), {.init = "gpt2"}); }).find("S11 has no weights"),
            std::string::npos);
}

// A rule that there is not is refused by whoever asks for it: so each of them asks.
TEST(Rules, ReachEveryClaimThatCompares) {
  for (const Claim& claim : claims())
    if (claim.compares) {
      const ClaimContext context{.scale = 0.01, .seeds = {1}, .init = "no such rule"};
      EXPECT_THROW(claim.measure(context), UsageError) << claim.id;
    }
}

TEST(Rules, StartWhatIsComparedAlike) {
  const ClaimContext gpt2{.seeds = {1}, .init = "gpt2"};
  for (const char* name : {"post-ln", "pre-ln", "plain-ln"}) {
    const auto model = lab::started(lab::bench_model(gpt2, name, 8), 1);
    EXPECT_NEAR(rms(lab::parameters_of(*model, Role::ffn_in).front().value()), 0.02, 1e-3) << name;
    EXPECT_NEAR(rms(lab::parameters_of(*model, Role::ffn_out).front().value()), 0.02 / 4, 1e-3) << name;
  }
  const auto gain = [](const ClaimContext& context, std::size_t unit) {
    return lab::branch_gains(context, lab::units_of(24, 64)).at(unit);
  };
  EXPECT_NEAR(gain(ClaimContext{}, 0), 1, 1e-9);
  EXPECT_NEAR(gain(gpt2, 23), 0.16 / std::sqrt(24.0), 1e-9);
  const ClaimContext by_layer{.init = "ds-init"};
  EXPECT_NEAR(gain(by_layer, 1), 1, 1e-9);
  EXPECT_NEAR(gain(by_layer, 23), 1 / std::sqrt(12.0), 1e-9) << "two units to a layer";
  EXPECT_EQ(lab::as_published(lab::thin_run(gpt2, "deepnorm", 4)).model.init, InitOptions{});
}

TEST(OtherClaims, AreLinkedBothWays) {
  std::size_t links = 0;
  for (const Claim& claim : claims())
    for (const SeeAlso& other : claim.see) {
      const auto& back = claim_named(other.id).see;
      EXPECT_TRUE(std::ranges::any_of(back, [&](const SeeAlso& s) { return s.id == claim.id; })) << other.id << ", " << claim.id;
      EXPECT_FALSE(other.why.empty()) << claim.id;
      ++links;
    }
  for (const auto& [one, other] :
       {std::pair{"S50", "C34"}, {"S09", "C21"}, {"S43", "C6"}, {"S43", "S50"}, {"S23", "S01"}, {"S23", "S46"}})
    EXPECT_TRUE(std::ranges::any_of(claim_named(one).see, [&, id = other](const SeeAlso& s) { return s.id == id; })) << one;
  EXPECT_GE(links, 12u);
}

TEST(EarlierVerdicts, SayWhyTheyAreOthers) {
  for (const Claim& claim : claims()) {
    EXPECT_EQ(claim.earlier.verdict.empty(), claim.earlier.why.empty()) << claim.id;
    EXPECT_TRUE(claim.earlier.verdict.empty() || claim.compares) << claim.id;
  }
}

TEST(EarlierVerdicts, AreFiledUnderWhatChangedThem) {
  for (const char* id :
       {"C6", "C16", "C28", "C34", "C35", "S69"})  // under the weights that they had before, in the same experiment
    EXPECT_EQ(claim_named(id).earlier.since, VerdictSince::measured_again) << id;
  EXPECT_EQ(claim_named("C9").earlier.since, VerdictSince::held_equal);
  Json file = Json::object();
  add_typed_texts(file, claim_named("C6"));
  EXPECT_EQ(file["earlier"]["since"].text(), "before the same was measured again, near its line");
}

TEST(Starts, AreSaidWhereNoRuleDrawsWeights) {
  for (const Claim& claim : claims()) EXPECT_TRUE(claim.compares || !claim.start.empty()) << claim.id;
}

Json shipped(const Claim& claim) {
  const auto path = std::filesystem::path(ADDNORM_SOURCE_DIR) / "src/claims/results" / (claim.id + ".json");
  return parsed(test::text_of(path), claim.id);
}

TEST(ShippedResults, SayWhatTodaysJudgesSayOfTheirNumbers) {
  for (const Claim& claim : claims()) {
    const Json stored = shipped(claim);
    Json now = stored;
    EXPECT_TRUE(judge_again(now, claim)) << claim.id << " hangs on more than means and spreads: measure it again";
    add_typed_texts(now, claim);
    EXPECT_TRUE(now.dump() == stored.dump())
        << claim.id << " is of an older program: lab claims --write src/claims/results --assemble";
  }
}

std::set<std::string> figures_in(std::string text) {
  text = std::regex_replace(text, std::regex("GPT-2|T5|[SC][0-9]+"), "");
  const std::regex figure("[0-9]+(\\.[0-9]+)?(e-?[0-9]+)?");
  return {std::sregex_token_iterator(text.begin(), text.end(), figure), std::sregex_token_iterator()};
}

std::string all_of(const Claim& claim) {
  const Json result = shipped(claim);
  return concat(claim.statement, " ", claim.expected, " ", result.at("measured").text());
}

/// "one of three" as "1 of 3".
std::vector<std::string> counts_in(const std::string& text) {
  const std::vector<std::string> words{"none", "one", "two", "three", "four", "five"};
  const auto number = [&](const std::string& word) { return std::ranges::find(words, word) - words.begin(); };
  std::vector<std::string> all;
  const std::regex count("(none|one|two|three|four) of (two|three|four|five)");
  for (auto i = std::sregex_iterator(text.begin(), text.end(), count); i != std::sregex_iterator(); ++i)
    all.push_back(concat(number((*i)[1]), " of ", number((*i)[2]), " seeds"));
  return all;
}

TEST(ShippedResults, HaveTheFiguresThatPeopleTyped) {
  for (const Claim& claim : claims()) {
    std::vector<std::pair<std::string, std::string>> typed{{claim.earlier.why, all_of(claim)}};
    for (const SeeAlso& other : claim.see) typed.push_back({other.why, all_of(claim) + " " + all_of(claim_named(other.id))});
    for (const auto& [text, measured] : typed) {
      const std::set<std::string> known = figures_in(measured);
      for (const std::string& figure : figures_in(text))
        EXPECT_TRUE(known.contains(figure)) << claim.id << ", " << figure << ": " << text;
      for (const std::string& count : counts_in(text))
        EXPECT_NE(measured.find(count), std::string::npos) << claim.id << ": " << text;
    }
  }
}

TEST(ShippedResults, AreOfEveryRuleWhereAClaimCompares) {
  for (const Claim& claim : claims()) {
    const Json result = shipped(claim);
    const Json* inits = result.find("inits");
    ASSERT_EQ(inits != nullptr, claim.compares) << claim.id;
    EXPECT_NE(result["verdict"].text(), claim.earlier.verdict) << claim.id << " is not another verdict now";
    if (!inits) continue;
    ASSERT_EQ(inits->size(), kClaimInits.size()) << claim.id;
    for (std::size_t i = 0; i < kClaimInits.size(); ++i)
      EXPECT_EQ(inits->array_items()[i].at("init").text(), kClaimInits[i]) << claim.id;
  }
}

TEST(TypedTexts, TakeThePlaceOfThoseInAFile) {
  Json file{{"id", "S50"}, {"claim", "as it was"}, {"changed", "of old"}, {"expected", "kept"}, {"verdict", "true"}};
  add_typed_texts(file, claim_named("S50"));
  EXPECT_EQ(file["claim"].text(), claim_named("S50").statement);
  EXPECT_EQ(file["expected"].text(), "kept");
  EXPECT_EQ(file["verdict"].text(), "true");
  EXPECT_EQ(file.contains("changed"), !claim_named("S50").changed.empty());
  EXPECT_EQ(file["see"].array_items().at(0).at("id").text(), "C34");
}

// Judged again

Json result_with(const Claim& claim, const Json& values) {
  return Json{{"id", claim.id}, {"values", values}, {"verdict", "of old"}, {"measured", "of old"}, {"expected", "of old"}};
}
Json series(const char* name, double mean, double spread, int seeds) {
  return Json{{"name", name}, {"mean", mean}, {"spread", spread}, {"seeds", seeds}};
}

TEST(JudgedAgain, SaysWhatTheJudgeSaysNow) {
  const Claim& claim = claim_named("S48");
  Json result =
      result_with(claim, Json::array({series("post-LN, branch", 0.5, 1e-3, 10), series("pre-LN, branch", 0.05, 1e-3, 10)}));
  ASSERT_TRUE(judge_again(result, claim));
  EXPECT_EQ(result["verdict"].text(), "false");
  EXPECT_NE(result["measured"].text().find("0.5 ± 0.001"), std::string::npos) << result["measured"].text();
  EXPECT_EQ(result["expected"].text(), claim.expected);
}

TEST(JudgedAgain, LeavesWhatHangsOnMoreThanMeansAndSpreads) {
  const Claim& claim = claim_named("S69");  // by means and spreads alone
  Json by_spreads =
      result_with(claim, Json::array({series("layernorm", 2.1, 0.01, 5), series("layernorm-noaffine", 2.3, 0.01, 5)}));
  EXPECT_TRUE(judge_again(by_spreads, claim));
  EXPECT_EQ(by_spreads["verdict"].text(), "true");

  const Claim& each = claim_named("S61");  // by its least and most
  ClaimResult measured{.values = made_up({{"F = 0", {10, 20, 30}}, {"identity matrix", {47, 57, 67}}})};
  Json exact = parsed(to_json(each, measured), "S61");
  Json rough = exact;
  Json without = Json::array();
  for (Json one : exact["values"].array_items()) {
    one.erase("each");
    without.push_back(one);
  }
  rough["values"] = without;
  const std::string before = rough.dump();
  const bool kept = !judge_again(rough, each) && rough.dump() == before;
  EXPECT_TRUE(judge_again(exact, each));
  EXPECT_TRUE(kept);
}

// Seeds that trained

TEST(SeedsTrained, DecideOnlyWhereTheyAgree) {
  using lab::SeedsTrained;
  EXPECT_EQ(lab::seeds_trained({1, 1, 1}), SeedsTrained::all);
  EXPECT_EQ(lab::seeds_trained({0, 0, 0}), SeedsTrained::none);
  for (const std::vector<double>& some : {std::vector<double>{1, 0, 0}, {1, 1, 0}, {0, 0, 0, 0, 1}})
    EXPECT_EQ(lab::seeds_trained(some), SeedsTrained::some);
  EXPECT_EQ(lab::seeds_trained({}), SeedsTrained::none);
}

TEST(SeedsTrained, SayWhetherSomethingHelps) {
  using lab::Help;
  using enum lab::SeedsTrained;
  EXPECT_EQ(lab::help(none, all), Help::works);
  EXPECT_EQ(lab::help(none, none), Help::fails);
  EXPECT_EQ(lab::help(all, none), Help::fails);
  EXPECT_EQ(lab::help(all, all), Help::no_need);
  EXPECT_EQ(lab::help(all, some), Help::no_need);
  EXPECT_EQ(lab::help(some, all), Help::undecided);
  EXPECT_EQ(lab::help(none, some), Help::undecided);
}

/// One set of runs, judged by every claim that asks for it: post-LN, pre-LN, and what helps post-LN.
TEST(SeedsTrained, AreReadAlikeByEveryClaim) {
  const std::vector<double> all{1, 1, 1}, none{0, 0, 0};
  const auto judged = [&](const std::vector<double>& post) {
    const auto runs = [&](std::initializer_list<std::pair<const char*, std::vector<double>>> named) {
      Numbers numbers;
      for (const auto& [name, trained] : named) {
        numbers.push_back({name, trained == all ? std::vector<double>{2, 2.01, 2.02} : std::vector<double>{3.4, 3.41, 3.42}});
        numbers.push_back({concat(name, ", trained"), trained});
      }
      return numbers;
    };
    Numbers rates;
    for (const char* rate : {"0.001", "0.003", "0.005"}) {
      rates.push_back({concat("post-ln at ", rate), std::string_view(rate) == "0.005" ? post : all});
      rates.push_back({concat("pre-ln at ", rate), all});
    }
    return std::vector<std::string>{
        verdict_of("S01", runs({{"post-ln", post}, {"pre-ln", all}})),
        verdict_of("S23", runs({{"post-ln", post}, {"norm-skip", all}, {"pre-ln", all}})),
        verdict_of("S43",
                   runs({{"pre-ln without", all}, {"pre-ln with", all}, {"post-ln without", post}, {"post-ln with", all}})),
        verdict_of("S46", rates),
        verdict_of("S50", runs({{"Adam", post}, {"RAdam", all}})),
        verdict_of("S52", runs({{"post-ln", post}, {"dlcl-post", all}})),
        verdict_of("S53", runs({{"post-ln", post}, {"admin", all}}))};
  };
  for (const std::string& verdict : judged(none)) EXPECT_EQ(verdict, "true");
  for (const std::vector<double>& some : {std::vector<double>{1, 0, 0}, {1, 1, 0}})
    for (const std::string& verdict : judged(some)) EXPECT_EQ(verdict, "not decided");
  EXPECT_EQ(judged(all),
            (std::vector<std::string>{"false", "not decided", "true only if nothing is said of post-norm, which did without here",
                                      "false", "not decided", "not decided", "not decided"}));
}

TEST(Seeds, AreCounted) {
  const Samples s = made_up({{"a, trained", {1, 0, 1}}, {"b, trained", {0, 0, 0}}, {"a", {2, 2, 2}}, {"one", {1}}});
  EXPECT_EQ(s.seeds_text("a, trained"), "2 of 3 seeds");
  EXPECT_EQ(s.seeds_text("one"), "1 of 1 seed");
  EXPECT_EQ(lab::run_text(s, "a"), "2 (2 of 3 seeds trained)");
  EXPECT_EQ(lab::seeds_text(s, {"a, trained", "b, trained"}), "2 and 0 of 3 seeds");
  EXPECT_EQ(lab::seeds_text(s, {"a, trained", "b, trained", "a, trained"}), "2, 0 and 2 of 3 seeds");
  EXPECT_EQ(lab::seeds_text(s, {"b, trained"}), "0 of 3 seeds");
}

}  // namespace
}  // namespace addnorm
