// addnorm lab claims as a person calls it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/process.h"
#include "core/json/json.h"
#include "support/folder.h"
#include "support/sanitizer.h"

namespace addnorm::test {
namespace {

namespace fs = std::filesystem;

Ended run(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"lab", "claims"});
  return Process(folder.path, arguments).end();
}
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(LabClaims, AnswerAnUnknownIdInALine) {
  const TemporaryFolder folder;
  const Ended ended = run(folder, {"--only", "S11,S99"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_TRUE(says(ended.err, "no claim S99; nearest: S74; there are S01 ... S74 and C1 ... C37")) << ended.err;
  EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  EXPECT_FALSE(fs::exists(folder.path / "runs"));
}

TEST(LabClaims, HaveAHelpOfTheirOwn) {
  const TemporaryFolder folder;
  const Ended ended = run(folder, {"--help"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_TRUE(says(ended.out, "--only")) << ended.out;
  EXPECT_FALSE(says(ended.out, "Act 1")) << ended.out;  // which is about 'lab'
}

TEST(LabClaims, AreListedWithWhatTheyTakeAndWhetherTheyAreRunByDefault) {
  const TemporaryFolder folder;
  const Ended ended = run(folder, {"--list"});
  EXPECT_EQ(ended.code, 0);
  for (const char* part : {"S11   default  seconds      ", "S01   default  up to 2 min  ", "C2    default  seconds      ",
                           "C9    --full   up to 8 min  ", "by default, all with --full"})
    EXPECT_TRUE(says(ended.out, part)) << part << "\n" << ended.out;
  EXPECT_FALSE(fs::exists(folder.path / "runs"));
  const Ended json = run(folder, {"--list", "--only", "C9,S11", "--json"});
  const Json all = parsed(json.out, "stdout");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["id"], Json("C9"));
  EXPECT_EQ(all[0]["default"], Json(false));
  EXPECT_EQ(all[1]["cost"], Json("seconds"));
  EXPECT_EQ(all[1]["command"], Json("addnorm lab claims --only S11"));
}

TEST(LabClaims, RefuseValuesThatCannotBe) {
  const TemporaryFolder folder;
  EXPECT_EQ(run(folder, {"--scale", "0"}).code, 2);
  EXPECT_EQ(run(folder, {"--seeds", "-1"}).code, 2);
  const Ended scaled = run(folder, {"--only", "S11", "--scale", "2", "--write", "docs/claims"});
  EXPECT_EQ(scaled.code, 2);
  EXPECT_TRUE(says(scaled.err, "--write with --scale 2")) << scaled.err;
  EXPECT_FALSE(fs::exists(folder.path / "docs"));
  const Ended both = run(folder, {"--full", "--only", "S11"});
  EXPECT_EQ(both.code, 2);
  EXPECT_TRUE(says(both.err, "--full and --only")) << both.err;
}

TEST(LabClaims, RunThoseThatCompareUnderOneRule) {
  const TemporaryFolder folder;
  const Ended ended = run(folder, {"--only", "S12,S73", "--init", "BERT", "--seeds", "2", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json all = parsed(ended.out, "stdout");
  ASSERT_EQ(all.size(), 2u);
  ASSERT_EQ(all[0]["inits"].size(), 1u);
  EXPECT_EQ(all[0]["inits"][0]["init"].text(), "bert");
  EXPECT_TRUE(says(all[1]["command"].text(), "--init bert")) << all[1]["command"].text();
  const Json listed = parsed(run(folder, {"--list", "--init", "bert", "--json"}).out, "stdout");
  EXPECT_GT(listed.size(), 40u);
  for (const Json& claim : listed.array_items()) EXPECT_EQ(claim["compares"], Json(true)) << claim["id"].text();
}

TEST(LabClaims, RefuseRulesThatCannotBe) {
  const TemporaryFolder folder;
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--init", "xavyer"}, "did you mean xavier?"},
      {{"--init", "arrangement"}, "would then start in different ways"},
      {{"--init", "gpt2", "--only", "S12,S11"}, "--init gpt2 with --only S11"},
      {{"--init", "gpt2", "--only", "S12", "--write", "docs/claims"}, "--write with --init gpt2"}};
  for (const auto& [arguments, part] : cases) {
    const Ended ended = run(folder, arguments);
    EXPECT_EQ(ended.code, 2) << part;
    EXPECT_TRUE(says(ended.err, part)) << ended.err;
  }
}

TEST(LabClaims, GiveAnArrayOfObjects) {
  const TemporaryFolder folder;
  const Ended ended = run(folder, {"--only", "s11,S22,C2", "--seeds", "3", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json all = parsed(ended.out, "stdout");
  ASSERT_EQ(all.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    for (const char* name : {"id", "claim", "source", "measured", "expected", "verdict", "seconds"})
      EXPECT_TRUE(all[i].contains(name)) << name;
  EXPECT_EQ(all[0]["id"].text(), "S11");  // in the order they were asked for
  EXPECT_EQ(all[1]["verdict"].text(), "false");
  EXPECT_TRUE(says(ended.err, "[3/3]")) << ended.err;
}

TEST(LabClaims, KeepWhatIsDone) {
  const TemporaryFolder folder;
  const std::vector<std::string> asked{"--only", "S11,S22", "--seeds", "3", "--out", "kept"};
  ASSERT_EQ(run(folder, asked).code, 0);
  EXPECT_TRUE(fs::exists(folder.path / "kept" / "S11.json"));
  const Ended again = run(folder, asked);
  EXPECT_TRUE(says(again.err, "S22  kept")) << again.err;
  std::vector<std::string> others = asked;
  others[3] = "4";
  EXPECT_FALSE(says(run(folder, others).err, "kept")) << "other options, another result";
}

TEST(LabClaims, ComputeAnewWhatIsDamagedOfTheirTrainingRuns) {
  const TemporaryFolder folder;
  const std::vector<std::string> asked{"--only", "S46", "--scale", "0.01", "--seeds", "2", "--out", "out", "--json", "--again"};
  const auto measured = [&] {
    const Ended ended = run(folder, asked);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.code == 0 ? Json(parsed(ended.out, "stdout").array_items().at(0).at("values")).dump() : "";
  };
  const std::string whole = measured();
  std::vector<const char*> all_damaged{"", R"({"losses": 3, "broke_off": "x"})", "{", "{}", R"({"losses": [], "broke_off": false,
       "held_out": 1, "gain_moved": 1, "bias_moved": 1, "spread": 1, "gradient_ratio": 1})"};
  if (test::kSanitized) all_damaged.resize(2);  // each measures everything anew, in the same code
  for (const char* damaged : all_damaged) {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path / "out/runs"))
      if (entry.path().extension() == ".json") std::ofstream(entry.path()) << damaged, ++count;
    ASSERT_GT(count, 0u);
    EXPECT_EQ(measured(), whole) << damaged;
  }
}

TEST(LabClaims, GoOnWhenOneOfThemFails) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path / "out" / "S11.json" / "in the way");
  const Ended ended = run(folder, {"--only", "S11,S22", "--seeds", "3", "--out", "out", "--json"});
  EXPECT_EQ(ended.code, 1);
  const Json all = parsed(ended.out, "stdout");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["verdict"].text(), "failed");
  EXPECT_TRUE(says(all[0]["measured"].text(), "exit code 2: ")) << all[0]["measured"].text();
  EXPECT_EQ(all[1]["verdict"].text(), "false");
}

TEST(LabClaims, WriteAPageFromTheirFiles) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(folder, {"--only", "S11,C2", "--seeds", "3", "--write", "docs/claims"}).code, 0);
  ASSERT_EQ(run(folder, {"--only", "S22", "--seeds", "3", "--write", "docs/claims"}).code, 0);
  const Json one = parsed(text_of(folder.path / "docs/claims/S11.json"), "S11");
  EXPECT_TRUE(one.contains("date") && one.contains("version") && !one.contains("made_with"));
  const std::string page = text_of(folder.path / "docs/claims.md");
  for (const char* part :
       {"3 claims: 1 true only if ..., 1 false, 1 seen at this scale", "### S22: false", "## Papers", "## What was left out"})
    EXPECT_TRUE(says(page, part)) << part;
  EXPECT_LT(page.find("### S11"), page.find("### S22"));
  EXPECT_TRUE(says(page, "`addnorm lab claims --only S11 --seeds 3` · 3 seeds · scale 1")) << page;
  EXPECT_FALSE(says(page, "measured by another one"));
}

TEST(LabClaims, ShowEveryRuleOnThePageAndTextsAsTheyAreNow) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(folder, {"--only", "S12", "--seeds", "3", "--write", "docs/claims"}).code, 0);
  Json file = parsed(text_of(folder.path / "docs/claims/S12.json"), "S12");
  file["claim"] = "Typed in another way.";
  file["earlier"] = Json{{"verdict", "gone"}, {"why", "it was"}};
  std::ofstream(folder.path / "docs/claims/S12.json") << file.dump(2);
  ASSERT_EQ(run(folder, {"--only", "S22", "--seeds", "3", "--write", "docs/claims"}).code, 0);
  const std::string page = text_of(folder.path / "docs/claims.md");
  for (const char* part :
       {"- **With Xavier's weights true", "- **With GPT-2's weights true", "<a id=\"S12\"></a>", "- **Start:** "})
    EXPECT_TRUE(says(page, part)) << part << page;
  EXPECT_FALSE(says(page, "Typed in another way.") || says(page, "was gone"));
  EXPECT_FALSE(says(text_of(folder.path / "docs/claims/S12.json"), "Typed in another way."));
}

TEST(LabClaims, AssembleAPageWithoutMeasuring) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(folder, {"--only", "S11,S48", "--seeds", "3", "--write", "docs/claims"}).code, 0);
  Json old = parsed(text_of(folder.path / "docs/claims/S48.json"), "S48");
  const std::string measured = old["measured"].text();
  old["verdict"] = "as an older program had it";
  old["measured"] = "in its words";
  std::ofstream(folder.path / "docs/claims/S48.json") << old.dump(2);
  const std::string other = text_of(folder.path / "docs/claims/S11.json");
  fs::remove_all(folder.path / "runs");
  const Ended ended = run(folder, {"--write", "docs/claims", "--assemble"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(says(ended.err, "from 2 files")) << ended.err;
  EXPECT_FALSE(fs::exists(folder.path / "runs"));
  const Json now = parsed(text_of(folder.path / "docs/claims/S48.json"), "S48");
  EXPECT_EQ(now["verdict"].text(), "false");
  EXPECT_EQ(now["measured"].text(), measured);
  EXPECT_EQ(text_of(folder.path / "docs/claims/S11.json"), other);
  EXPECT_TRUE(says(text_of(folder.path / "docs/claims.md"), "### S48: false"));
}

TEST(LabClaims, RefuseToAssembleWhatIsNotSaid) {
  const TemporaryFolder folder;
  EXPECT_EQ(run(folder, {"--assemble"}).code, 2);
  EXPECT_EQ(run(folder, {"--assemble", "--write", "docs/claims", "--only", "S11"}).code, 2);
  EXPECT_EQ(run(folder, {"--assemble", "--write", "docs/claims"}).code, 2);
  EXPECT_FALSE(fs::exists(folder.path / "docs"));
}

TEST(LabClaims, MarkResultsOfOtherVersionsOnThePage) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(folder, {"--only", "S11", "--seeds", "3", "--write", "docs/claims"}).code, 0);
  Json old = parsed(text_of(folder.path / "docs/claims/S11.json"), "S11");
  old["version"] = "0.0.1";
  std::ofstream(folder.path / "docs/claims/S11.json") << old.dump(2);
  ASSERT_EQ(run(folder, {"--only", "S22", "--seeds", "3", "--write", "docs/claims"}).code, 0);
  const std::string page = text_of(folder.path / "docs/claims.md");
  EXPECT_TRUE(says(page, "measured by another one: S11 (0.0.1)."));
  EXPECT_TRUE(says(page, "version 0.0.1 (another than this page's)"));
}

TEST(LabClaims, StopAtASignalWithWhatIsDone) {
  const TemporaryFolder folder;
  Process process(folder.path, {"lab", "claims", "--only", "S11,S52,S16", "--out", "out", "--json"});
  ASSERT_TRUE(process.wait_for("S11"));
  process.send(SIGINT);
  const Ended ended = process.end();
  EXPECT_EQ(ended.code, 130);
  EXPECT_TRUE(says(ended.err,
                   "stopped by a signal; claims done: 1 of 3, kept in out; go on with: addnorm lab claims --only "
                   "S11,S52,S16 --out out --json\n"))
      << ended.err;
  EXPECT_EQ(parsed(ended.out, "stdout").size(), 1u);
  EXPECT_FALSE(fs::exists(folder.path / "out" / "S52.log"));
}

}  // namespace
}  // namespace addnorm::test
