// From folders to a page: what is found, what is reported, and what a damaged one costs.
#include "addnorm/report/report.h"

#include <gtest/gtest.h>

#include "addnorm/core/error.h"
#include "core/json/json.h"
#include "support/folder.h"
#include "support/near.h"
#include "support/threads.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using test::text_of;

const std::string kRun =
    R"({"version":"0.1.0","begun":"2026-11-17T12:00:00Z","options":{"arrangement":"pre-ln","data":["/home/me/book.txt"]}})";
const std::string kMetrics = R"({"step":1,"loss":3.5,"learning_rate":0.001}
{"step":2,"loss":2.5,"learning_rate":0.001}
)";

std::string lab_json(const std::string& label = "post-ln", const std::string& folder = "run-1") {
  const Json row{{"label", label}, {"arrangement", "post-ln"}, {"runs", Json::array({0})}, {"options", Json{{"layers", 12}}}};
  const Json run{{"folder", folder}, {"state", "done"}, {"curve", parsed(R"({"step":[1,2],"loss":[3.5,2.5]})", "")}};
  return Json{{"format", 1}, {"folder", "/home/me/runs/lab"}, {"rows", Json::array({row})}, {"runs", Json::array({run})}}.dump();
}

std::string claim(const std::string& id) {
  return Json{{"id", id}, {"claim", "skips help"}, {"verdict", "true"}, {"measured", "3 ± 1"}}.dump();
}

Report report_of(const std::vector<fs::path>& paths) {
  ReportRequest request;
  for (const fs::path& path : paths) request.sources.push_back({.path = path});
  return make_report(request);
}

Json data_of(const Report& report) {
  const std::string begin = "id=\"data\">";
  const std::size_t from = report.html.find(begin) + begin.size();
  return parsed(report.html.substr(from, report.html.find("</script>", from) - from), "the page");
}

const Json* claim_named(const Json& set, const std::string& id) {
  for (const Json& one : set["claims"].array_items())
    if (one["id"].text() == id) return &one;
  return nullptr;
}

bool has_problem(const Report& report, const std::string& words) {
  for (const std::string& problem : report.problems)
    if (problem.find(words) != std::string::npos) return true;
  return false;
}

class Reports : public testing::Test {
 protected:
  fs::path lab(const std::string& name, const std::string& json = lab_json()) {
    folder.write(name + "/run-1/metrics.jsonl", kMetrics);
    return folder.write(name + "/lab.json", json).parent_path();
  }
  fs::path run(const std::string& name) {
    folder.write(name + "/metrics.jsonl", kMetrics);
    return folder.write(name + "/run.json", kRun).parent_path();
  }
  TemporaryFolder folder;
};

TEST_F(Reports, ShowSeveralLabsRunsAndClaimsOnOnePage) {
  folder.write("claims/S01.json", claim("S01"));
  folder.write("claims/notes.txt", "not JSON");
  const fs::path preflight =
      folder.write("post.json", R"({"verdict":"trains","reason":"all is well","trials":[{"losses":[3,2],"records":[{}]}]})");
  const Report report = report_of({lab("one"), lab("two"), run("book"), folder.path / "claims", preflight});
  EXPECT_TRUE(report.problems.empty()) << report.problems.front();
  EXPECT_EQ(report.labs, 2u);
  EXPECT_EQ(report.runs, 1u);
  EXPECT_EQ(report.claims, 1u);
  EXPECT_EQ(report.preflights, 1u);
  const Json data = data_of(report);
  EXPECT_EQ(data["labs"].array_items()[1]["name"].text(), "two");
  EXPECT_EQ(data["trains"].array_items()[0]["name"].text(), "book");
  EXPECT_EQ(data["preflights"].array_items()[0]["name"].text(), "post");
  EXPECT_FALSE(data["preflights"].array_items()[0]["trials"].array_items()[0].contains("records")) << "they are large";
  EXPECT_EQ(data["claims"].size(), 2u) << "those of the folder, and those that are built in";
  EXPECT_TRUE(data["claims"].array_items()[1]["shipped"].boolean());
}

TEST_F(Reports, HaveCurvesOfRunsFromTheirFolders) {
  const Json data = data_of(report_of({lab("one"), run("book")}));
  const Json& of_lab = data["labs"].array_items()[0]["runs"].array_items()[0];
  EXPECT_EQ(of_lab["curve"].dump(), R"({"step":[1,2],"loss":[3.5,2.5]})");
  EXPECT_EQ(of_lab["rate_curve"].dump(), "[0.001,0.001]");
  EXPECT_EQ(data["trains"].array_items()[0]["curve"].dump(), R"({"step":[1,2],"loss":[3.5,2.5]})");
}

TEST_F(Reports, DistinguishRecordsOfTheSameName) {
  const Json data = data_of(report_of({lab("a/lab"), lab("b/lab"), run("c/lab")}));
  EXPECT_EQ(data["labs"].array_items()[0]["name"].text(), "lab");
  EXPECT_EQ(data["labs"].array_items()[1]["name"].text(), "lab (2)");
  EXPECT_EQ(data["trains"].array_items()[0]["name"].text(), "lab (3)");
}

TEST_F(Reports, DoNotNameFoldersOfThisMachine) {
  const Report report = report_of({lab("one"), run("book")});
  EXPECT_EQ(report.html.find("/home/me"), std::string::npos);
  EXPECT_EQ(report.html.find(folder.path.string()), std::string::npos);
}

TEST_F(Reports, FindTheRunsDirectlyBelowAFolder) {
  lab("all/lab"), run("all/book");
  folder.write("all/other/readme.txt", "nothing of ours");
  folder.write("all/broken/lab.json", "{");
  const Report report = report_of({folder.path / "all"});
  EXPECT_EQ(report.labs + report.runs, 2u);
  EXPECT_TRUE(has_problem(report, "broken/lab.json: not JSON"));
}

TEST_F(Reports, GoOnWithoutWhatIsDamagedAndSayWhatItWas) {
  folder.write("empty/notes.txt", "");
  folder.write("damaged/lab.json", R"({"rows": [)");
  folder.write("other/lab.json", R"({"rows": 7, "runs": []})");
  folder.write("outside/lab.json", lab_json("x", "run").replace(lab_json("x", "run").find("[0]"), 3, "[5]"));
  const Report report = report_of({folder.path / "missing", folder.path / "empty", folder.path / "damaged", folder.path / "other",
                                   folder.path / "outside", lab("good")});
  EXPECT_EQ(report.labs, 1u);
  EXPECT_EQ(report.problems.size(), 5u);
  EXPECT_TRUE(has_problem(report, "missing: there is no such file or folder"));
  EXPECT_TRUE(has_problem(report, "empty: no run in this folder; expected: a folder with lab.json"));
  EXPECT_TRUE(has_problem(report, "damaged/lab.json: not JSON: line 1"));
  EXPECT_TRUE(has_problem(report, "other/lab.json: no rows and runs in it"));
  EXPECT_TRUE(has_problem(report, "row 'x' has run 5, and there are 1"));
  EXPECT_FALSE(report.html.empty());
}

TEST_F(Reports, AreEmptyWhereNothingIsFound) {
  const Report report = report_of({folder.path});
  EXPECT_TRUE(report.empty());
  EXPECT_TRUE(report.html.empty());
  EXPECT_EQ(report.problems.size(), 1u);
  EXPECT_THROW(write_report(report, folder.path / "report.html"), UsageError);
}

TEST_F(Reports, ShowARunWithoutMetricsAndSaySo) {
  const fs::path one = run("book"), two = lab("one");
  fs::remove(one / "metrics.jsonl");
  fs::remove(two / "run-1" / "metrics.jsonl");
  const Report report = report_of({one, two});
  EXPECT_EQ(report.runs + report.labs, 2u);
  EXPECT_TRUE(has_problem(report, "book/metrics.jsonl"));
  EXPECT_TRUE(has_problem(report, "run-1/metrics.jsonl"));
  EXPECT_EQ(data_of(report)["trains"].array_items()[0]["curve"]["step"].size(), 0u);
}

TEST_F(Reports, SayWhichLineOfWhichFileBreaksOffAndShowTheOthers) {
  const std::string probe = R"({"step":1,"stacks":[{"name":"stack","units":["a"],"spread":[0.5,0.25]}]})";
  for (const fs::path& place : {run("book"), lab("one") / "run-1"}) {
    folder.write(place / "metrics.jsonl", kMetrics + R"({"step":3,"lo)");
    folder.write(place / "probes.jsonl", probe + "\n" + probe.substr(0, 40));
  }
  const Report report = report_of({folder.path / "book", folder.path / "one"});
  EXPECT_EQ(report.problems.size(), 3u);
  EXPECT_TRUE(has_problem(report, "book/metrics.jsonl: line 3, the last, breaks off; the other lines are shown"));
  EXPECT_TRUE(has_problem(report, "one/run-1/metrics.jsonl: line 3, the last, breaks off; the other lines are shown"));
  EXPECT_TRUE(has_problem(
      report, "one/run-1/probes.jsonl: line 2, the last, breaks off (and 1 more like it); the other lines are shown"));
  const Json data = data_of(report);
  const Json &train = data["trains"].array_items()[0], &of_lab = data["labs"].array_items()[0]["runs"].array_items()[0];
  for (const Json* shown : {&train, &of_lab}) {
    EXPECT_EQ((*shown)["curve"].dump(), R"({"step":[1,2],"loss":[3.5,2.5]})");
    EXPECT_EQ((*shown)["probes"].array_items()[0]["step"].dump(), "[1]");
  }
}

TEST_F(Reports, AreTheSameForAnyNumberOfThreads) {
  Json rows = Json::array(), runs = Json::array();
  for (int i = 0; i < 70; ++i) {  // more than are read at once, and each with something else to tell
    rows.push_back(Json{{"label", concat("row ", i)}, {"arrangement", "pre-ln"}, {"runs", Json::array({i})}});
    runs.push_back(Json{{"folder", concat("run-", i)}, {"state", "done"}});
    const std::string stack = concat(R"([{"name":"stack","units":["a"],"spread":[)", i, ",", i + 1, "]}]");
    if (i % 7 > 0)
      folder.write(concat("many/run-", i, "/probes.jsonl"), concat("{\"step\":", i + 1, ",\"stacks\":", stack, "}\n"));
    if (i % 5 > 0) folder.write(concat("many/run-", i, "/metrics.jsonl"), concat(kMetrics, "{\"step\":3,\"loss\":", i, "}\n{"));
    folder.write(concat("book-", i % 3, "/metrics.jsonl"), kMetrics + (i % 2 ? "{" : ""));
    folder.write(concat("book-", i % 3, "/run.json"), kRun);
  }
  const fs::path many = folder.write("many/lab.json", Json{{"rows", rows}, {"runs", runs}}.dump()).parent_path();
  const auto read = [&] { return report_of({many, folder.path / "book-0", folder.path / "book-1", folder.path / "book-2"}); };
  const Report first = read();
  EXPECT_TRUE(has_problem(first, "run-0/metrics.jsonl")) << "the first by number";
  test::with_every_thread_count([&] {
    const Report again = read();
    EXPECT_EQ(again.html, first.html);
    EXPECT_EQ(again.problems, first.problems);
  });
}

TEST_F(Reports, ReadNoRunOutsideTheFolderOfItsLab) {
  folder.write("secret/metrics.jsonl", kMetrics);
  const Report report = report_of({lab("one", lab_json("x", "../secret"))});
  EXPECT_TRUE(has_problem(report, "'../secret' of a run is not below it"));
  EXPECT_FALSE(data_of(report)["labs"].array_items()[0]["runs"].array_items()[0].contains("rate_curve"));
}

TEST_F(Reports, KeepHostileNamesAsText) {
  const std::string name = "<img src=x onerror=alert(1)>", script = "</script><script>alert(1)</script>";
  folder.write("labs/" + name + "/lab.json", lab_json(script));
  const Report report = report_of({folder.path / "labs" / name});
  EXPECT_EQ(report.html.find("<img"), std::string::npos);
  EXPECT_EQ(report.html.find("</script><script>alert"), std::string::npos);
  const Json data = data_of(report);
  EXPECT_EQ(data["labs"].array_items()[0]["name"].text(), name);
  EXPECT_EQ(data["labs"].array_items()[0]["rows"].array_items()[0]["label"].text(), script);
}

TEST_F(Reports, HaveNullWhereANumberIsNotFinite) {
  folder.write("book/metrics.jsonl", "{\"step\":1,\"loss\":null}\n");
  folder.write("book/run.json", kRun);
  EXPECT_EQ(data_of(report_of({folder.path / "book"}))["trains"].array_items()[0]["curve"].dump(),
            R"({"step":[1],"loss":[null]})");
}

TEST_F(Reports, LeaveOutFieldsThatHoldSomethingElse) {
  const fs::path odd =
      lab("odd", R"({"rows":[{"label":"a","runs":[0],"options":7,"baselines":"x","cause":[],"prediction":{"forecast":3},
      "loss":{"mean":"low","count":-1},"new field":1}],"runs":[7],"acts":[1,{"name":2}],"comparisons":["c",4],"confusion":null})");
  const Report report = report_of({odd});
  ASSERT_EQ(report.labs, 1u);
  const Json data = data_of(report);
  const Json &shown = data["labs"].array_items()[0], &row = shown["rows"].array_items()[0];
  for (const char* name : {"baselines", "cause", "new field"}) EXPECT_FALSE(row.contains(name)) << name;
  EXPECT_EQ(row["arrangement"].text(), "") << "what the page needs is there, and empty";
  EXPECT_EQ(row["options"].dump(), "{}");
  EXPECT_EQ(row["prediction"].dump(), R"({"forecast":""})");
  EXPECT_EQ(row["loss"].dump(), R"({"mean":null,"deviation":null,"least":null,"most":null,"count":0})");
  EXPECT_EQ(shown["runs"].dump(), "[{}]");
  EXPECT_EQ(shown["acts"].dump(), R"([{"name":""}])");
  EXPECT_EQ(shown["comparisons"].dump(), R"(["c",""])");
  EXPECT_FALSE(shown.contains("confusion"));
}

TEST_F(Reports, ShowAllThatAClaimSays) {
  Json one = parsed(claim("S01"), "");
  one["earlier"] = Json{{"verdict", "true"}, {"why", "all started from one rule"}};
  one["see"] = parsed(R"([{"id":"C34","why":"it is deeper there"}])", "");
  one["start"] = "W_2 by the rule";
  one["inits"] = parsed(R"([{"init":"gpt2","verdict":"false","measured":"3.5",
      "values":[{"name":"post-ln","mean":3.5,"spread":0.25,"seeds":3}]}])",
                        "");
  folder.write("claims/S01.json", one.dump());
  folder.write("claims/S02.json", R"({"id":"S02","claim":"a","verdict":"true","start":7,"earlier":"true","see":[3,{"id":4}],
      "inits":[[],{"init":"gpt2","values":"none"}]})");
  const Json data = data_of(report_of({folder.path / "claims"}));
  const Json& own = data["claims"].array_items()[0];
  const Json& shown = *claim_named(own, "S01");
  for (const char* name : {"earlier", "see", "start", "inits"}) {
    ASSERT_TRUE(shown.contains(name)) << name;
    EXPECT_EQ(shown[name].dump(), one[name].dump());
  }
  const Json& odd = *claim_named(own, "S02");
  for (const char* name : {"start", "earlier"}) EXPECT_FALSE(odd.contains(name)) << name;
  EXPECT_EQ(odd["see"].dump(), R"([{"id":"","why":""}])") << "what the page needs is there, and empty";
  EXPECT_EQ(odd["inits"].dump(), R"([{"init":"gpt2","verdict":"","measured":""}])");
}

TEST_F(Reports, ShowBuiltInClaimsByInitialisationAndWithTheirLinks) {
  folder.write("claims/S01.json", claim("S01"));
  const Json data = data_of(report_of({folder.path / "claims"}));
  const Json& shipped = data["claims"].array_items()[1];
  ASSERT_TRUE(shipped["shipped"].boolean());
  for (const auto& [one, other] : {std::pair{"S50", "C34"}, {"C34", "S50"}, {"S09", "C21"}, {"C21", "S09"}}) {
    const Json* found = claim_named(shipped, one);
    ASSERT_TRUE(found && found->contains("see") && (*found)["see"].size() > 0) << one;
    EXPECT_EQ((*found)["see"].array_items()[0]["id"].text(), other);
  }
  const Json& by_rule = *claim_named(shipped, "S12");
  EXPECT_FALSE(by_rule["start"].text().empty());
  ASSERT_EQ(by_rule["inits"].size(), 2u);
  for (const Json& rule : by_rule["inits"].array_items()) {
    EXPECT_FALSE(rule["verdict"].text().empty());
    EXPECT_GT(rule["values"].size(), 0u) << rule["init"].text();
  }
}

TEST_F(Reports, AskForTheFormulaOfARunAndForArrangementsOfOnesOwn) {
  ReportRequest request{.sources = {{.path = run("book")}}, .arrangements = R"([{"name":"post-ln"}])"};
  request.summarize = [](const std::string& options) {
    EXPECT_NE(options.find("pre-ln"), std::string::npos);
    return ArrangementSummary{.formula = "x' = x + F(LN(x))", .json = R"({"name":"pre-ln"})"};
  };
  const Json data = data_of(make_report(request));
  EXPECT_EQ(data["trains"].array_items()[0]["formula"].text(), "x' = x + F(LN(x))");
  EXPECT_EQ(data["arrangements"].dump(), R"([{"name":"post-ln"},{"name":"pre-ln"}])");
}

TEST_F(Reports, TakeTextInPlaceOfAFile) {
  const Report report = make_report({.sources = {{.path = "a trial", .text = R"({"verdict":"trains","reason":"r"})"}}});
  EXPECT_EQ(report.preflights, 1u);
  EXPECT_EQ(data_of(report)["preflights"].array_items()[0]["name"].text(), "a trial");
}

TEST_F(Reports, ReplaceTheOldPageAsAWhole) {
  const Report report = report_of({lab("one")});
  const fs::path page = folder.write("one/report.html", "<!doctype html>\nthe old one");
  const std::size_t before = test::entries(folder.path / "one");
  write_report(report, page);
  EXPECT_EQ(text_of(page), report.html);
  EXPECT_EQ(test::entries(folder.path / "one"), before) << "nothing is left beside it";
  EXPECT_THROW(write_report(report, folder.path / "no such folder" / "report.html"), DataError);
}

TEST_F(Reports, LeaveAFileAloneThatIsNoPage) {
  const Report report = report_of({lab("one")});
  const fs::path record = folder.path / "one" / "lab.json";
  const std::string before = text_of(record);
  EXPECT_TRUE(test::throws_saying<DataError>([&] { write_report(report, record); }, {"lab.json", "another file"}));
  EXPECT_EQ(text_of(record), before);
}

TEST_F(Reports, HaveShorterCurvesWhereThereAreManyRuns) {
  Json rows = Json::array(), runs = Json::array(), steps = Json::array(), losses = Json::array();
  for (int step = 1; step <= 150; ++step) steps.push_back(step), losses.push_back(2.5);
  for (int i = 0; i < 201; ++i) {
    rows.push_back(Json{{"label", concat("row ", i)}, {"arrangement", "pre-ln"}, {"runs", Json::array({i})}});
    runs.push_back(Json{{"curve", Json{{"step", steps}, {"loss", losses}}}});
  }
  const fs::path file = folder.write("result.json", Json{{"rows", rows}, {"runs", runs}}.dump());
  const Report report = report_of({file});
  EXPECT_EQ(report.lab_runs, 201u);
  const Json data = data_of(report);
  EXPECT_LE(data["labs"].array_items()[0]["runs"].array_items()[200]["curve"]["step"].size(), 120u);
}

}  // namespace
}  // namespace addnorm
