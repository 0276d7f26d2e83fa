// addnorm report, and the pages that other commands write, as processes.
#include <gtest/gtest.h>

#include "cli/process.h"
#include "core/json/json.h"

namespace addnorm::test {
namespace {

namespace fs = std::filesystem;

struct ReportTool : testing::Test {
  Ended run(const std::vector<std::string>& arguments) const { return Process(folder.path, arguments).end(); }
  Ended tiny(std::vector<std::string> arguments) const {
    for (const char* more :
         {"--d-model", "16", "--heads", "2", "--seq-len", "16", "--batch-size", "4", "--steps", "4", "--layers", "2"})
      arguments.emplace_back(more);
    return run(arguments);
  }
  std::string page(const fs::path& name) const { return text_of(folder.path / name); }
  Json data_of(const fs::path& name) const {
    const std::string html = page(name), begin = "id=\"data\">";
    const std::size_t from = html.find(begin) + begin.size();
    return parsed(html.substr(from, html.find("</script>", from) - from), name.string());
  }
  TemporaryFolder folder;
};

TEST_F(ReportTool, IsWrittenByALabWhichPrintsItsLink) {
  const Ended lab = tiny({"lab", "--arrangements", "post-ln,pre-ln", "--no-predict", "--no-confirm", "--seeds", "1"});
  ASSERT_EQ(lab.code, 0) << lab.err;
  EXPECT_NE(lab.out.find("report: file://" + fs::canonical(folder.path).string() + "/runs/lab/report.html"), std::string::npos)
      << lab.out;
  const Json data = data_of("runs/lab/report.html");
  ASSERT_EQ(data["labs"].size(), 1u);
  const Json& shown = data["labs"].array_items()[0];
  EXPECT_EQ(shown["rows"].size(), 2u);
  for (const Json& one : shown["runs"].array_items()) {
    EXPECT_EQ(one["curve"]["step"].size(), 4u);
    EXPECT_EQ(one["gradient_curve"].size(), 4u);
    EXPECT_TRUE(one.contains("probes"));
  }
  EXPECT_GE(data["arrangements"].size(), 34u);
  EXPECT_FALSE(fs::exists(folder.path / "runs/lab" / shown["runs"].array_items()[0]["folder"].text() / "report.html"))
      << "a run of a lab needs no page of its own";

  const Ended again = tiny({"lab", "--arrangements", "post-ln,pre-ln", "--no-predict", "--no-confirm", "--seeds", "1", "--json"});
  EXPECT_EQ(parsed(again.out, "stdout")["rows"].size(), 2u) << "stdout is JSON and nothing else";

  const Ended rebuilt = run({"report", "runs/lab", "-o", "page.html"});
  ASSERT_EQ(rebuilt.code, 0) << rebuilt.err;
  EXPECT_NE(rebuilt.out.find("report of 1 lab of 2 runs"), std::string::npos) << rebuilt.out;
  EXPECT_EQ(data_of("page.html")["labs"].dump(), data_of("runs/lab/report.html")["labs"].dump());
}

TEST_F(ReportTool, IsWrittenByTrainUnlessItShallNot) {
  const Ended train = tiny({"train", "--out", "a run"});
  ASSERT_EQ(train.code, 0) << train.err;
  EXPECT_NE(train.err.find("/a%20run/report.html"), std::string::npos) << train.err;
  const Json data = data_of("a run/report.html");
  const Json& shown = data["trains"].array_items().at(0);
  EXPECT_EQ(shown["name"].text(), "a run");
  EXPECT_EQ(shown["formula"].text(), "x' = x + F(LN(x))");
  EXPECT_EQ(shown["curve"]["step"].size(), 4u);
  EXPECT_GT(shown["baselines"]["unigram"].number(), shown["baselines"]["floor"].number());

  ASSERT_EQ(tiny({"train", "--out", "other", "--no-report", "--quiet"}).code, 0);
  EXPECT_FALSE(fs::exists(folder.path / "other/report.html"));

  const Ended both = run({"report", "a run", "other", "--json"});
  ASSERT_EQ(both.code, 0) << both.err;
  const Json summary = parsed(both.out, "stdout");
  EXPECT_EQ(summary["runs"].whole(), 2u);
  EXPECT_EQ(summary["bytes"].whole(), page("a run/report.html").size()) << "by default it stands in the first folder";
}

TEST_F(ReportTool, IsWrittenByPreflightOnRequest) {
  const Ended ended = tiny({"preflight", "--no-advice", "--seeds", "1", "--json", "--report", "flight.html"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json result = parsed(ended.out, "stdout"), data = data_of("flight.html");
  EXPECT_EQ(data["preflights"].array_items().at(0)["verdict"], result["verdict"]);
  write_text(folder.path / "flight.json", ended.out);
  EXPECT_EQ(run({"report", "flight.json", "-o", "again.html"}).code, 0);
  EXPECT_EQ(data_of("again.html")["preflights"].array_items().at(0)["verdict"], result["verdict"]);
  EXPECT_EQ(run({"preflight", "--max-lr", "--report", "x.html"}).code, 2);
}

TEST_F(ReportTool, SaysWhatItCannotReadAndEndsWithOneWhereNothingIsLeft) {
  folder.write("empty/readme.txt", "");
  folder.write("damaged/lab.json", "{\"rows\": [");
  const Ended none = run({"report", "empty", "damaged", "missing"});
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(none.out.empty());
  for (const char* words :
       {"empty: no run in this folder", "damaged/lab.json: not JSON", "missing: there is no such", "nothing was written"})
    EXPECT_NE(none.err.find(words), std::string::npos) << words << "\n" << none.err;
  EXPECT_FALSE(fs::exists(folder.path / "empty/report.html"));

  folder.write("claims/S01.json", R"({"id":"S01","claim":"c","verdict":"true"})");
  const Ended some = run({"report", "empty", "claims", "-o", "page.html"});
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_NE(some.err.find("empty: no run"), std::string::npos);
}

TEST_F(ReportTool, RefusesToGuessWhatItIsOf) {
  const Ended none = run({"report"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("addnorm report runs/lab"), std::string::npos) << none.err;
  EXPECT_EQ(run({"report", "--no-such-option"}).code, 2);
}

TEST_F(ReportTool, EndsWithOneWhereThePageCannotBeWritten) {
  folder.write("claims/S01.json", R"({"id":"S01","claim":"c","verdict":"true"})");
  const Ended ended = run({"report", "claims", "-o", "no/such/folder/page.html"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("no/such/folder"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace addnorm::test
