// addnorm lab and addnorm depth, as processes.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

#include "cli/process.h"
#include "core/figures.h"
#include "core/json/json.h"

namespace addnorm::test {
namespace {

namespace fs = std::filesystem;

struct LabTool : testing::Test {
  static std::vector<std::string> tiny(const std::string& command, const std::vector<std::string>& more) {
    std::vector<std::string> all{command,     "--d-model", "16",           "--heads", "2",
                                 "--seq-len", "16",        "--batch-size", "4",       "--no-predict"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static std::vector<std::string> lab(const std::vector<std::string>& more) {
    std::vector<std::string> all = tiny("lab", {"--layers", "2", "--no-confirm"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Ended run(const std::vector<std::string>& arguments) const { return Process(folder.path, arguments).end(); }
  Json result() const { return parsed(text_of(folder.path / "runs/lab/lab.json"), "lab.json"); }

  Json run_of(std::size_t i) const { return result().at("runs").array_items().at(i); }

  Json row_of(std::size_t i) const { return result().at("rows").array_items().at(i); }

  /// A child of the process that trains, once it has begun its steps; -1: none came.
  static pid_t training_child(const Process& parent) {
    for (int i = 0; i < 500; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10)))
      for (const auto& entry : fs::directory_iterator("/proc", fs::directory_options::skip_permission_denied)) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const std::string stat = text_of(entry.path() / "stat"), words = text_of(entry.path() / "cmdline");
        const std::size_t name_end = stat.rfind(')');
        if (name_end == std::string::npos || words.find("train") == std::string::npos) continue;
        if (std::stol(stat.substr(name_end + 4)) == parent.pid()) return static_cast<pid_t>(std::stol(name));
      }
    return -1;
  }
  /// Lines of all metrics.jsonl below the folder.
  std::size_t steps_done() const {
    std::size_t lines = 0;
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path / "runs/lab", none))
      if (entry.path().filename() == "metrics.jsonl")
        for (const char c : text_of(entry.path())) lines += c == '\n';
    return lines;
  }
  void wait_for_steps(std::size_t steps) const {
    for (int i = 0; i < 1000 && steps_done() < steps; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  TemporaryFolder folder;
};

TEST_F(LabTool, RunsAGridPrintsATableAndRunsNothingTwice) {
  const auto asked = lab({"--arrangements", "post-ln,PreLN", "--steps", "100", "--lr", "1e-7", "--seeds", "2"});
  const Ended first = run(asked);
  ASSERT_EQ(first.code, 0) << first.err;
  for (const char* part :
       {"post-ln, 2 layers", "pre-ln, 2 layers", "above floor", "results: file://", "lab.json", "next:\n  addnorm "})
    EXPECT_NE(first.out.find(part), std::string::npos) << part << "\n" << first.out;
  EXPECT_NE(first.err.find("[4/4]"), std::string::npos) << first.err;
  const Json json = result();
  EXPECT_EQ(json["runs"].size(), 4u);
  EXPECT_EQ(json["runs"][0]["steps_done"], Json(100));
  EXPECT_EQ(json["runs"][0]["curve"]["loss"].size(), 100u);

  const Ended second = run(asked);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_NE(second.err.find("4 of them are done already"), std::string::npos) << second.err;
  EXPECT_EQ(second.err.find("[4/4]"), std::string::npos) << second.err;
  EXPECT_EQ(second.out, first.out);

  // What is suggested is about these rows, not about the usual ones.
  const std::size_t depth = first.out.find("addnorm depth ");
  ASSERT_NE(depth, std::string::npos) << first.out;
  const std::string suggested = first.out.substr(depth, first.out.find('\n', depth) - depth);
  for (const char* part : {"--d-model 16", "--heads 2", "--seq-len 16", "--batch-size 4", "--steps 100", "--arrangement post-ln"})
    EXPECT_NE(suggested.find(part), std::string::npos) << suggested;
  EXPECT_EQ(suggested.find("--layers"), std::string::npos) << suggested;
  const Ended again = run({"lab", "--grid", "runs/lab/lab-grid.json", "--out", "runs/lab", "--no-predict", "--no-confirm"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("4 of them are done already"), std::string::npos) << again.err;
}

TEST_F(LabTool, PredictsBeforeItRunsAndKeepsThePredictions) {
  std::vector<std::string> asked = lab({"--arrangements", "pre-ln", "--steps", "100", "--seeds", "1"});
  std::erase(asked, "--no-predict");
  const Ended first = run(asked);
  ASSERT_EQ(first.code, 0) << first.err;
  const std::size_t predicted = first.err.find("Predicted, in"), ran = first.err.find("[1/1]");
  EXPECT_LT(predicted, ran) << first.err;
  const Json row = result().at("rows").array_items().at(0);
  const double gain = row.at("prediction").at("skip_gain_measured").number();
  EXPECT_GT(gain, row.at("skip_gain_predicted").number()) << "branches of GPT-2 start weaker than what they read";
  EXPECT_NE(first.err.find(concat("skip gain ", short_figure(gain), " measured")), std::string::npos) << first.err;
  EXPECT_TRUE(row["prediction"].is_object()) << row.dump();
  EXPECT_TRUE(row["agreed"].is_boolean()) << row.dump();

  fs::path kept;
  for (const auto& entry : fs::directory_iterator(folder.path / "runs/lab/predictions"))
    if (entry.path().string().ends_with("asked.json")) kept = entry.path();
  ASSERT_FALSE(kept.empty());
  fs::remove(kept);  // nobody asks again
  EXPECT_EQ(run(asked).code, 0);
  EXPECT_FALSE(fs::exists(kept));
}

TEST_F(LabTool, GivesJsonAloneOnItsOutput) {
  folder.write("grid.json", R"({"base": {"layers": 2, "d_model": 16, "steps": 5, "seq_len": 8}, "seeds": 1,
                               "acts": [{"name": "One", "rows": [{"arrangement": "rezero"}]}]})");
  const Ended ended = run({"lab", "--grid", "grid.json", "--json", "--no-predict", "--steps", "6"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json json = parsed(ended.out, "stdout");
  EXPECT_EQ(json["acts"][0]["name"], Json("One"));
  EXPECT_EQ(json["rows"][0]["arrangement"], Json("rezero"));
  EXPECT_EQ(json["runs"][0]["steps_done"], Json(6));
}

TEST_F(LabTool, SaysTheCanonicalNamesOfInits) {
  const Ended ended = run(lab({"--arrangements", "pre-ln", "--inits", "normal,xavier", "--steps", "2", "--seeds", "1"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("note: --init normal is bert\n"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find(" is xavier\n"), std::string::npos) << ended.err;
}

TEST_F(LabTool, LeavesADeviationOfTheFileOutUnderARuleWithoutOneAndSaysSoOnce) {
  folder.write("grid.json", R"({"base": {"layers": 1, "d_model": 16, "heads": 2, "steps": 2, "seq_len": 8, "init": "bert",
                               "init_std": 0.03}, "seeds": 1, "grid": {"arrangement": ["pre-ln", "post-ln"]}})");
  const Ended ended = run({"lab", "--grid", "grid.json", "--no-predict", "--no-confirm", "--init", "xavier"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string note =
      "note: grid.json: init_std 0.03 is left out: xavier, asked for by --init, takes its deviations from the widths of "
      "matrices\n";
  ASSERT_NE(ended.err.find(note), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find(note), ended.err.rfind(note)) << ended.err;
}

TEST_F(LabTool, GoesOnWithoutAChildThatIsKilled) {
  const auto asked = lab({"--arrangements", "post-ln,pre-ln", "--steps", "400", "--seeds", "1", "--at-once", "1"});
  Process process(folder.path, asked);
  wait_for_steps(5);
  const pid_t child = training_child(process);
  ASSERT_GT(child, 0);
  kill(child, SIGKILL);
  const Ended ended = process.end();
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_NE(ended.out.find("seed 1 failed: ended by signal 9"), std::string::npos) << ended.out;
  EXPECT_EQ(result()["failed"], Json(1));
  EXPECT_EQ(run_of(1)["state"], Json("done"));
  EXPECT_EQ(run(asked).code, 0);
}

TEST_F(LabTool, StopsAtASignalAndGoesOnWhereItWas) {
  const auto asked = lab({"--arrangements", "pre-ln", "--steps", "1500", "--seeds", "1"});
  Process process(folder.path, asked);
  wait_for_steps(5);
  process.send(SIGINT);
  const Ended ended = process.end();
  EXPECT_EQ(ended.code, 130) << ended.err;
  for (const char* part : {"stopped by a signal; runs done: 0 of 1, kept with those that were begun in runs/lab; go on with: "
                           "addnorm lab --d-model 16 ",
                           " --arrangements pre-ln --steps 1500 --seeds 1\n"})
    EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
  const std::string place = run_of(0)["folder"].text();
  const fs::path kept = folder.path / "runs/lab" / place;
  EXPECT_EQ(run_of(0)["state"], Json("stopped"));
  EXPECT_TRUE(fs::exists(kept / "checkpoints"));
  const std::string begun = parsed(text_of(kept / "run.json"), "run.json")["begun"].text();
  std::string before = text_of(kept / "metrics.jsonl");
  before.resize(before.find('\n') + 1);

  const Ended second = run(asked);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(run_of(0)["steps_done"], Json(1500));
  EXPECT_EQ(parsed(text_of(kept / "run.json"), "run.json")["begun"].text(), begun);
  EXPECT_TRUE(text_of(kept / "metrics.jsonl").starts_with(before));  // the same lines: seconds and all
}

TEST_F(LabTool, SaysAtASignalWhatDepthAndPreflightKeep) {
  Process depth(folder.path, tiny("depth", {"--arrangement", "pre-ln", "--steps", "5000", "--most", "2"}));
  wait_for_steps(5);
  depth.send(SIGINT);
  const Ended of_depth = depth.end();
  EXPECT_EQ(of_depth.code, 130) << of_depth.err;
  EXPECT_NE(
      of_depth.err.find("stopped by a signal; runs that are done or were begun are kept in runs/lab; go on with: addnorm depth "),
      std::string::npos)
      << of_depth.err;
  EXPECT_NE(of_depth.out.find("stopped; so far no depth trains"), std::string::npos) << of_depth.out;

  Process preflight(folder.path, {"preflight", "--arrangement", "post-ln", "--layers", "48"});
  ASSERT_TRUE(preflight.wait_until_it_listens());
  preflight.send(SIGTERM);
  const Ended of_preflight = preflight.end();
  EXPECT_EQ(of_preflight.code, 143) << of_preflight.err;
  EXPECT_NE(
      of_preflight.err.find("stopped by a signal; preflight keeps nothing; begin again with: addnorm preflight --arrangement "
                            "post-ln --layers 48\n"),
      std::string::npos)
      << of_preflight.err;
  EXPECT_EQ(of_preflight.out, "");
}

TEST_F(LabTool, LosesOnlyTheRowsOfADataFileThatVanishes) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "the quick brown fox jumps over the lazy dog. ";
  folder.write("book.txt", text);
  folder.write("grid.json", R"({"base": {"layers": 2, "d_model": 16, "heads": 2, "seq_len": 16, "batch_size": 4}, "seeds": 1,
                               "rows": [{"steps": 400}, {"steps": 10, "data": "book.txt"}, {"steps": 10}]})");
  Process process(folder.path, {"lab", "--grid", "grid.json", "--at-once", "1", "--no-predict", "--no-confirm"});
  wait_for_steps(2);
  fs::remove(folder.path / "book.txt");
  const Ended ended = process.end();
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_NE(ended.err.find("book.txt"), std::string::npos) << ended.err;
  EXPECT_EQ(result()["failed"], Json(1));
  EXPECT_EQ(run_of(0)["state"], Json("done"));
  EXPECT_EQ(run_of(2)["state"], Json("done"));
}

TEST_F(LabTool, RunsAnewWhatHasLostAFileAndKeepsTheRest) {
  const auto asked = lab({"--arrangements", "post-ln,pre-ln", "--steps", "60", "--seeds", "1"});
  ASSERT_EQ(run(asked).code, 0);
  const Json before = result();
  const fs::path lab_folder = folder.path / "runs/lab", whole = folder.path / "whole";
  fs::copy(lab_folder, whole, fs::copy_options::recursive);
  const std::string mine = run_of(1)["folder"].text(), other = run_of(0)["folder"].text();
  const auto half = [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) / 2); };
  struct Case {
    const char* name;
    std::function<void(const fs::path&)> damage;
    const char* reason;  // "": it goes on in its folder
  };
  const std::vector<Case> cases{
      {"metrics lost", [](const fs::path& at) { fs::remove(at / "metrics.jsonl"); }, "metrics.jsonl has lost step 1"},
      {"metrics cut", [&](const fs::path& at) { half(at / "metrics.jsonl"); }, "metrics.jsonl has lost step "},
      {"a line lost",
       [](const fs::path& at) {
         std::string text = text_of(at / "metrics.jsonl");
         const std::size_t first = text.find('\n') + 1;
         text.erase(first, text.find('\n', first) + 1 - first);
         std::ofstream(at / "metrics.jsonl") << text;
       },
       "metrics.jsonl has lost step 2"},
      {"probes lost", [](const fs::path& at) { fs::remove(at / "probes.jsonl"); }, "probes.jsonl has lost"},
      {"probes cut", [&](const fs::path& at) { half(at / "probes.jsonl"); }, "probes.jsonl has lost"},
      {"done cut", [&](const fs::path& at) { half(at / "done.json"); }, ""},
      {"record cut, not done",
       [&](const fs::path& at) {
         half(at / "run.json");
         fs::remove(at / "done.json");
       },
       "run.json"},
      {"checkpoints cut, not done",
       [&](const fs::path& at) {
         for (const auto& entry : fs::directory_iterator(at / "checkpoints")) half(entry.path());
         fs::remove(at / "done.json");
       },
       "none of its checkpoints can be read"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    fs::remove_all(lab_folder);
    fs::copy(whole, lab_folder, fs::copy_options::recursive);
    const auto untouched = fs::last_write_time(lab_folder / other / "metrics.jsonl");
    one.damage(lab_folder / mine);
    const Ended ended = run(asked);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(run_of(1)["state"], Json("done"));
    EXPECT_EQ(run_of(1)["steps_done"], Json(60));
    EXPECT_EQ(run_of(1)["loss"], before.at("runs").array_items().at(1).at("loss"));
    EXPECT_EQ(run_of(0)["cached"], Json(true));
    EXPECT_EQ(fs::last_write_time(lab_folder / other / "metrics.jsonl"), untouched);
    EXPECT_EQ(fs::exists(lab_folder / (mine + ".damaged")), *one.reason != '\0');
    if (*one.reason != '\0') {
      for (const char* part : {"run anew: ", one.reason, ".damaged"})
        EXPECT_NE(ended.err.find(part), std::string::npos) << part << "\n" << ended.err;
    }
    EXPECT_NE(run(asked).err.find("2 of them are done already"), std::string::npos);
  }
}

TEST_F(LabTool, PrintsWhatItFoundWhereNothingMoreCanBeWritten) {
  const auto asked = lab({"--arrangements", "pre-ln", "--steps", "60", "--seeds", "1"});
  ASSERT_EQ(run(asked).code, 0);
  fs::remove(folder.path / "runs/lab/lab.json");
  fs::create_directory(folder.path / "runs/lab/lab.json");  // no file can be put there
  const Ended ended = run(asked);
  EXPECT_EQ(ended.code, 1);
  EXPECT_NE(ended.err.find("the result is not kept: "), std::string::npos) << ended.err;
  EXPECT_NE(ended.out.find("pre-ln, 2 layers"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("results: "), std::string::npos) << ended.out;
}

TEST_F(LabTool, RefusesAFolderThatAnotherLabHas) {
  const auto asked = lab({"--arrangements", "pre-ln", "--steps", "3000", "--seeds", "1"});
  Process process(folder.path, asked);
  wait_for_steps(2);
  TemporaryFolder elsewhere;
  std::vector<std::string> same = asked;
  same.insert(same.end(), {"--out", (folder.path / "runs/lab").string()});
  const Ended second = Process(elsewhere.path, same).end();
  EXPECT_EQ(second.code, 1);
  EXPECT_NE(second.err.find("in use by process"), std::string::npos) << second.err;
  process.send(SIGTERM);
  EXPECT_EQ(process.end().code, 143);
}

TEST_F(LabTool, EndsItsChildrenWhenItIsKilled) {
  Process process(folder.path, lab({"--arrangements", "pre-ln", "--steps", "100000", "--seeds", "1"}));
  wait_for_steps(2);
  const pid_t child = training_child(process);
  ASSERT_GT(child, 0);
  process.send(SIGKILL);
  process.end();
  const auto gone = [&] {
    const std::string stat = text_of("/proc/" + std::to_string(child) + "/stat");
    return stat.empty() || stat.find(") Z") != std::string::npos;
  };
  for (int i = 0; i < 1000 && !gone(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(gone());
}

TEST_F(LabTool, RefusesWhatCannotBeBeforeTheFirstRun) {
  const auto refused = [&](std::vector<std::string> arguments, std::initializer_list<const char*> parts, int code = 2) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, code) << ended.err;
    for (const char* part : parts) EXPECT_NE(ended.err.find(part), std::string::npos) << part << "\nin: " << ended.err;
    EXPECT_FALSE(fs::exists(folder.path / "runs"));
  };
  refused({"lab", "--arrangements", "pre-lm"}, {"unknown arrangement", "did you mean pre-ln?"});
  refused({"lab", "--layers", "6,,8"}, {"--layers", "comma too many"});
  refused({"lab", "--layers", ""}, {"--layers", "empty"});
  refused({"lab", "--layers", "6,x"}, {"--layers", "'x' is not a whole number"});
  refused({"lab", "--layers", "6,0"}, {"--layers is 0; it must be 1 ... 1000000"});
  refused({"lab", "--heads", "0"}, {"--heads is 0; it must be 1 ... "});
  refused({"preflight", "--d-model", "0"}, {"preflight: --d-model is 0; it must be 1 ... "});
  refused({"lab", "--layers", "6,1000000", "--d-model", "4096"}, {"memory", "1000000"}, 1);
  refused({"lab", "--lerning-rate", "1"}, {"unknown option", "did you mean --lr?"});
  refused({"lab", "--seeds", "0"}, {"--seeds is 0"});
  refused({"lab", "--data", "nowhere.txt"}, {"nowhere.txt"}, 1);
  refused({"lab", "--grid", "nowhere.json"}, {"nowhere.json"});
  folder.write("empty.json", "{}");
  refused({"lab", "--grid", "empty.json"}, {"empty.json: nothing is said of any run", "\"grid\"", "\"rows\"", "\"base\""});
  folder.write("bad.json", "{\"grid\": {\"layers\": [}}");
  refused({"lab", "--grid", "bad.json"}, {"bad.json", "not JSON", "line 1"});
  folder.write("list.json", "{\"grid\": {\"layers\": [2]}}");
  refused({"lab", "--grid", "list.json", "--lr", "1,2"}, {"beside --grid"});
  refused({"depth", "--layers", "3"}, {"--layers is what is looked for"});
  refused({"lab", "--inits", "foo,xavier"}, {"lab: --init: unknown initialisation 'foo'"});
  refused({"depth", "--lr", "1,2"}, {"--lr has 2 values"});
  refused({"depth", "--init", "foo"}, {"depth: --init: unknown initialisation 'foo'; known: arrangement, xavier"});
  refused({"lab", "claims", "--init", "foo"}, {"claims: --init: unknown initialisation 'foo'; known: arrangement, xavier"});
  refused({"depth", "--heads", "3"}, {"depth: with 1 layer: --heads is 3"});
  refused({"lab", "nonsense"}, {"nonsense"});
}

TEST_F(LabTool, SaysOfFewStepsThatTheyAreTooShortToTell) {
  const Ended ended = run(lab({"--arrangements", "post-ln,pre-ln", "--steps", "20", "--seeds", "2"}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const char* part : {"too short to tell", "2 rows too short to tell: a run", "--steps 300"})
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  for (const char* part : {"stuck", "slow", "cause:", "suspected", "NO"})
    EXPECT_EQ(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  EXPECT_EQ(row_of(0)["happened"], Json("too short to tell"));
  EXPECT_TRUE(row_of(0)["cause"].is_null());
  EXPECT_EQ(run_of(0)["outcome"], Json("too short to tell"));
}

TEST_F(LabTool, HelpOfDepthSaysHowItLooksAndTakesOneValueEach) {
  const std::string help = run({"depth", "--help"}).out;
  for (const char* part : {"How it looks:", "--arrangement NAME ", "--lr X ", "Examples:", "--warmup-steps 200", "--most N"})
    EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
  for (const char* part : {"act 1", "NAME,..."}) EXPECT_EQ(help.find(part), std::string::npos) << part << "\n" << help;
}

TEST_F(LabTool, FindsTheDeepestStackThatTrains) {
  const auto asked = tiny("depth", {"--arrangement", "pre-ln", "--steps", "100", "--lr", "1e-7", "--most", "2"});
  const Ended ended = run(asked);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("not even one layer trains"), std::string::npos) << ended.out;  // nothing learns at such a rate
  std::vector<std::string> as_json = asked;
  as_json.push_back("--json");
  EXPECT_EQ(parsed(run(as_json).out, "stdout")["deepest"], Json(0));
  const Ended brief = run(tiny("depth", {"--arrangement", "pre-ln", "--steps", "20", "--most", "2"}));
  EXPECT_EQ(brief.code, 1);
  EXPECT_NE(brief.out.find("not found: runs of 20 steps are too short to tell"), std::string::npos) << brief.out;
}

}  // namespace
}  // namespace addnorm::test
