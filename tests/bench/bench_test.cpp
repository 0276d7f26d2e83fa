// What can be said of the bench without measuring: names, peers that are not there, what is printed.
#include "bench/bench.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "addnorm/core/error.h"
#include "addnorm/model/language_model.h"
#include "bench/jobs/steps.h"
#include "bench/machine/idle.h"
#include "bench/machine/worker.h"
#include "bench/slice.h"

namespace addnorm::bench {
namespace {

Result a_result(const std::string& name, std::vector<std::size_t> shape) {
  Result r;
  r.name = name;
  r.shape = std::move(shape);
  r.cold = true;
  r.threads = 2;
  r.limit = Limit::traffic;
  r.traffic = Traffic::two_read_two_write;
  r.work = 12e6;
  r.seconds = 3e-4;
  r.share_of_limit = 0.9;
  return r;
}

std::string message_of(const Options& options) {
  std::ostringstream notes;
  try {
    run(options, notes);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Bench, AnswersAnUnknownGroupWithTheNearestOneAndTheList) {
  const std::string said = message_of({.groups = {"add-nrm"}, .threads = {}, .shapes = {}, .python = ""});
  EXPECT_NE(said.find("did you mean add-norm"), std::string::npos) << said;
  EXPECT_NE(said.find("attention"), std::string::npos) << said;
}

TEST(Bench, RefusesShapesThatTheChosenGroupsDoNotHave) {
  const std::string said = message_of({.groups = {"add-norm"}, .threads = {}, .shapes = {"7x8"}, .python = ""});
  EXPECT_NE(said.find("2048x384"), std::string::npos) << said;
}

TEST(Bench, RefusesAnInitWhereNoModelIsMade) {
  const auto said = [](std::vector<std::string> groups, std::vector<std::string> shapes = {}) {
    return message_of({.groups = std::move(groups), .threads = {}, .shapes = std::move(shapes), .python = "", .init = "gpt2"});
  };
  const std::vector<std::string> kernels[]{{}, {"gemm"}, {"machine"}, {"embed"}, {"add-norm", "attention"}};
  for (const auto& groups : kernels) {
    const std::string text = said(groups);
    EXPECT_NE(text.find("--init gpt2"), std::string::npos) << text;
    EXPECT_NE(text.find("train-step and decode"), std::string::npos) << text;
  }
  EXPECT_NE(said({"add-norm", "train-step"}, {"2048x384"}).find("--init gpt2"), std::string::npos) << "no step is left";
}

TEST(Bench, RefusesAThreadCountThatCannotBe) {
  for (const int count : {0, 1025})
    EXPECT_NE(message_of({.groups = {"machine"}, .threads = {count}, .shapes = {}, .python = ""}).find("1 to 1024"),
              std::string::npos);
}

TEST(Bench, JsonHasTheDocumentedFieldsAndLeavesOutWhatWasNotMeasured) {
  Report report;
  report.results = {a_result("add_layer_norm forward", {2048, 384}), a_result("add_layer_norm forward", {4096, 64})};
  report.results[0].torch = Result::Rival{6e-4, 2.0};
  std::ostringstream out;
  print_json(report, out);
  const auto rows = nlohmann::json::parse(out.str())["results"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["name"], "add_layer_norm forward");
  EXPECT_EQ(rows[0]["shape"], (std::vector<int>{2048, 384}));
  EXPECT_EQ(rows[0]["cache"], "cold");
  EXPECT_EQ(rows[0]["threads"], 2);
  EXPECT_EQ(rows[0]["seconds"], 3e-4);
  EXPECT_EQ(rows[0]["share_of_limit"], 0.9);
  EXPECT_EQ(rows[0]["ratio_to_torch"], 2.0);
  EXPECT_FALSE(rows[0].contains("ratio_to_compile"));
  EXPECT_FALSE(rows[1].contains("ratio_to_torch"));
}

TEST(Bench, AWholeStepSaysTokensPerSecondAndBothPeaksOfMemory) {
  Report report;
  report.results = {a_result("train-step A", {6, 384, 256, 8})};
  Result& r = report.results[0];
  r.tokens = 2048;
  r.seconds = 1;
  r.eager = Result::Rival{1.5, 1.5};
  r.torch = r.compile = Result::Rival{1.25, 1.25};
  r.peak_mib = 400;
  r.peak_mib_torch = 1000;
  std::ostringstream json, table;
  print_json(report, json);
  print_table(report, table);
  const auto row = nlohmann::json::parse(json.str())["results"][0];
  EXPECT_EQ(row["tokens_per_second"], 2048);
  EXPECT_EQ(row["ratio_to_torch"], 1.25);
  EXPECT_EQ(row["ratio_to_eager"], 1.5);
  EXPECT_EQ(row["peak_mib"], 400);
  EXPECT_EQ(row["peak_mib_torch"], 1000);
  EXPECT_NE(table.str().find("400 0.40"), std::string::npos) << table.str();
}

TEST(Bench, OperationsOfAStepAreThoseOfTheModelThatRuns) {
  const StepModel& a = step_models().front();
  // Per layer four maps d x d and two d x 4d with their biases, the tied head; 6 for each and token. Attention: 12 d per pair.
  const double d = 384, weights = 6 * (12 * d * d + 9 * d) + 256 * d, attention = 12 * 6 * d * 256;
  EXPECT_EQ(step_operations(a), 2048 * (6 * weights + attention));
  for (const bool post_norm : {false, true}) {
    const StepModel m{
        .name = "tiny", .layers = 2, .width = 8, .heads = 2, .length = 4, .batch = 1, .vocab = 5, .post_norm = post_norm};
    const ModelConfig config = config_of(m);
    LanguageModel model(config);
    EXPECT_EQ(parameters(m), count_parameters(model) - m.length * m.width);
  }
}

TEST(Bench, TableGivesGeometricMeansOnlyOfWhatEveryShapeHas) {
  Report report;
  report.results = {a_result("add_layer_norm forward", {2048, 384}), a_result("add_layer_norm forward", {4096, 64})};
  for (Result& r : report.results) r.torch = Result::Rival{6e-4, 2.0};
  report.results[0].torch->ratio = 8.0;
  report.results[0].onednn = Result::Rival{6e-4, 3.25};
  std::ostringstream out;
  print_table(report, out);
  const std::string text = out.str();
  const std::string mean = text.substr(text.find("geometric mean"));
  EXPECT_NE(mean.find("4.00"), std::string::npos) << text;
  EXPECT_EQ(mean.find("3.25"), std::string::npos) << text;
}

TEST(Bench, EveryJobHasItsOwnNameAndShape) {
  std::vector<std::string> seen;
  for (const auto& jobs : {norm_jobs(), gemm_jobs(), attention_jobs(), step_jobs(), embed_jobs("")})
    for (const Job& job : jobs) seen.push_back(job.name + " " + shape_text(job.shape, "x"));
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

TEST(Bench, EveryGroupButTheMachineHasShapesEachNamedOnce) {
  for (const std::string& group : group_names()) {
    std::vector<std::string> shapes = shape_names(group);
    EXPECT_EQ(shapes.empty(), group == "machine") << group;
    std::sort(shapes.begin(), shapes.end());
    EXPECT_EQ(std::adjacent_find(shapes.begin(), shapes.end()), shapes.end()) << group;
  }
}

TEST(Bench, KnowsVendorAndBf16OfAProcessor) {
  const auto cpu = [](const std::string& vendor, const std::string& flags) {
    std::istringstream text("processor\t: 0\nvendor_id\t: " + vendor + "\nmodel name\t: Some CPU\nflags\t\t: " + flags +
                            "\n\nprocessor\t: 1\nvendor_id\t: Other\nflags\t\t: amx_bf16\n");
    return cpu_of(text);
  };
  const Cpu zen3 = cpu("AuthenticAMD", "fpu avx2 fma");
  EXPECT_EQ(zen3.name, "Some CPU");
  EXPECT_TRUE(zen3.amd());
  EXPECT_FALSE(zen3.bf16);
  EXPECT_TRUE(cpu("AuthenticAMD", "fpu avx2 avx512_bf16 fma").bf16);
  const Cpu xeon = cpu("GenuineIntel", "avx2 amx_bf16");
  EXPECT_TRUE(xeon.bf16);
  EXPECT_FALSE(xeon.amd());
  EXPECT_FALSE(cpu("GenuineIntel", "avx512_bf16x").bf16);
  EXPECT_EQ(bf16_peers(xeon, false), Bf16::native);
  EXPECT_EQ(bf16_peers(xeon, true), Bf16::native);
  EXPECT_EQ(bf16_peers(zen3, false), Bf16::none);
  EXPECT_EQ(bf16_peers(zen3, true), Bf16::emulated);
}

std::string table_of(const Report& report) {
  std::ostringstream out;
  print_table(report, out);
  return out.str();
}

TEST(Bench, SaysWhatMklReachesOnAmdWhereThatWasMeasured) {
  Report report;
  report.torch = "2.13.0";
  EXPECT_EQ(table_of(report).find("MKL"), std::string::npos);
  report.products = ProductShares{{2048, 384, 1536}, 2, 0.41, 0.86};
  const std::string table = table_of(report);
  EXPECT_NE(table.find("MKL"), std::string::npos) << table;
  EXPECT_NE(table.find("41 %, ours 86 % (2048 x 384 x 1536, 2 threads)"), std::string::npos) << table;
  std::ostringstream json;
  print_json(report, json);
  const auto mkl = nlohmann::json::parse(json.str())["machine"]["mkl_on_amd"];
  EXPECT_EQ(mkl["share_of_limit"], 0.41);
  EXPECT_EQ(mkl["our_share_of_limit"], 0.86);
}

TEST(Bench, AStepIsComparedWithBf16OrSaysThatThisCpuHasNone) {
  Report report;
  report.results = {a_result("train-step A", {6, 384, 256, 8})};
  Result& r = report.results[0];
  r.group = "train-step";
  r.tokens = 2048;
  EXPECT_NE(table_of(report).find("bf16: this CPU has none"), std::string::npos);
  r.bf16 = r.bf16_compile = Result::Rival{0.5, 0.625};
  r.bf16_eager = Result::Rival{0.75, 0.875};
  report.bf16 = Bf16::native;
  EXPECT_EQ(table_of(report).find("has none"), std::string::npos);
  EXPECT_NE(table_of(report).find("0.62\n"), std::string::npos) << table_of(report);
  report.bf16 = Bf16::emulated;
  EXPECT_NE(table_of(report).find("figures in bf16 mean nothing"), std::string::npos);
  std::ostringstream json;
  print_json(report, json);
  const auto all = nlohmann::json::parse(json.str());
  EXPECT_EQ(all["machine"]["bf16"], "emulated");
  EXPECT_EQ(all["results"][0]["ratio_to_bf16"], 0.625);
  EXPECT_EQ(all["results"][0]["ratio_to_bf16_eager"], 0.875);
  report.results[0].group = "attention";
  report.bf16 = Bf16::none;
  EXPECT_EQ(table_of(report).find("bf16: "), std::string::npos);
}

/// A file that is run as the interpreter; gone with its owner.
struct Script {
  explicit Script(const std::string& text, const std::string& first_line = "#!/bin/sh\n") {
    std::ofstream(path) << first_line << text << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  ~Script() { std::filesystem::remove(path); }
  static inline int made = 0;
  std::filesystem::path path = std::filesystem::temp_directory_path() / concat("addnorm-peer-", getpid(), "-", made++);
};

/// Says that the import failed, in the words of torch_peer.py.
Script failing_import(const std::string& error) { return Script(concat("cat <<'END'\n{\"error\": \"", error, "\"}\nEND")); }

TEST(BenchPeer, ThatCannotBeUsedSaysWhetherItIsAbsentNoPythonOrWithoutTorch) {
  const Script without_torch = failing_import("ModuleNotFoundError: No module named 'torch'");
  const Script part_missing = failing_import("ModuleNotFoundError: No module named 'torch._C'");
  const Script needs_more = failing_import("ModuleNotFoundError: No module named 'typing_extensions'");
  const Script broken_torch = failing_import("ImportError: libtorch.so is broken");
  const Script crashing("kill -SEGV $$");
  const Script no_interpreter("", "#!/nonexistent/python\n");
  const struct {
    std::string python, said;
  } cases[] = {{"/nonexistent/python", "was not found, or what it points to was not"},
               {"addnorm-no-such-python", "was not found, or what it points to was not"},
               {no_interpreter.path.string(), "was not found, or what it points to was not"},
               {"/etc/passwd", "cannot be run (Permission denied)"},
               {"/bin/true", "ended, or said nothing for 120 s; is it a Python 3 whose torch loads?"},
               {crashing.path.string(), "ended, or said nothing for 120 s"},
               {"/bin/echo", "is it a Python interpreter?"},
               {without_torch.path.string(), "has no PyTorch; install torch for it"},
               {part_missing.path.string(), "cannot load PyTorch (ModuleNotFoundError: No module named 'torch._C')"},
               {needs_more.path.string(), "cannot load PyTorch (ModuleNotFoundError: No module named 'typing_extensions')"},
               {broken_torch.path.string(), "cannot load PyTorch (ImportError: libtorch.so is broken)"}};
  for (const auto& [python, said] : cases) {
    Peer peer(python);
    EXPECT_FALSE(peer.alive());
    EXPECT_NE(peer.problem().find("'" + python + "' "), std::string::npos) << peer.problem();
    EXPECT_NE(peer.problem().find(said), std::string::npos) << peer.problem();
    EXPECT_FALSE(peer.slice("eager", true, 1, 0.01).has_value());
  }
}

TEST(BenchPeer, ThatAnswersIsHeard) {
  const Script script(R"(echo '{"torch": "1.2"}'; while read -r line; do echo '{"seconds": 0.5}'; done)");
  Peer peer(script.path.string());
  ASSERT_TRUE(peer.alive()) << peer.problem();
  EXPECT_EQ(peer.version(), "1.2");
  EXPECT_EQ(peer.slice("eager", true, 1, 0.01), 0.5);
}

TEST(BenchPeer, SaysWhetherItHasMklAndInWhichPrecisionItComputed) {
  const Script with(
      R"(echo '{"torch": "1.2", "mkl": true}'; while read -r line; do echo '{"ok": true, "precision": "bf16"}'; done)");
  Peer peer(with.path.string());
  EXPECT_TRUE(peer.has_mkl());
  EXPECT_EQ(peer.precision(), "");
  EXPECT_TRUE(peer.warm("eager", 1));
  EXPECT_EQ(peer.precision(), "bf16");
  const Script without(R"(echo '{"torch": "1.2"}')");
  EXPECT_FALSE(Peer(without.path.string()).has_mkl());
}

TEST(BenchPeer, IsWaitedForThroughASignalOfThisProgram) {
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = [](int) {};  // no SA_RESTART: system calls end with EINTR
  ASSERT_EQ(sigaction(SIGUSR1, &ignore, &before), 0);
  const Script script(R"(sleep 0.4; echo '{"torch": "1.2"}')");
  std::thread disturber([waiting = pthread_self()] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(70));
      pthread_kill(waiting, SIGUSR1);
    }
  });
  const Peer peer(script.path.string());
  disturber.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(peer.version(), "1.2") << peer.problem();
}

TEST(BenchPeer, ThatDiesIsNoticedAndBrokenPipesStillEndThisProgram) {
  const Script script(R"(echo '{"torch": "1.2"}')");
  Peer peer(script.path.string());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(peer.slice("eager", true, 1, 0.01).has_value());
  EXPECT_FALSE(peer.alive());
  EXPECT_EQ(signal(SIGPIPE, SIG_DFL), SIG_DFL);
}

TEST(BenchPeer, IsFoundOnlyInAFolderOfThisUserThatHoldsTheScript) {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("addnorm-peers-" + std::to_string(getpid()));
  const fs::path python = root / ".peers" / "bin" / "python";
  fs::create_directories(root / "deep" / "inside");
  fs::create_directories(python.parent_path());
  std::ofstream(python) << "";
  EXPECT_EQ(installed_python(root / "deep" / "inside"), "");
  fs::create_directories(root / "scripts");
  std::ofstream(root / "scripts" / "peers") << "";
  EXPECT_EQ(installed_python(root / "deep" / "inside"), python);
  EXPECT_EQ(installed_python(root), python);
  if (geteuid() == 0 && chown(root.c_str(), 12345, getegid()) == 0) {
    EXPECT_EQ(installed_python(root), "");
  }
  fs::remove_all(root);
}

TEST(BenchWorker, MeasuresInAProcessOfItsOwn) {
  int calls = 0;
  Worker worker([&] { return [&] { usleep(2000), ++calls; }; });
  const auto seconds = worker.slice(1, 0.01);
  ASSERT_TRUE(seconds.has_value());
  EXPECT_GE(*seconds, 2e-3);
  EXPECT_EQ(calls, 0);
  EXPECT_GT(peak_mib(worker.pid()), 0);
}

TEST(BenchWorker, SaysHowLongTheMakingTook) {
  Worker worker([] {
    usleep(20'000);
    return [] {};
  });
  EXPECT_EQ(worker.made_seconds(), 0);
  ASSERT_TRUE(worker.slice(1, 0).has_value());
  EXPECT_GE(worker.made_seconds(), 0.02);
}

TEST(BenchWorker, ThatFailsAnswersNothing) {
  Worker worker([]() -> std::function<void()> { throw UsageError("no such model"); });
  EXPECT_FALSE(worker.slice(1, 0.01).has_value());
  EXPECT_FALSE(worker.slice(1, 0.01).has_value());
}

TEST(BenchSlice, MedianIsTheMiddleAndOfTwoTheLower) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1}), 1);
  EXPECT_EQ(median({}), 0);
}

TEST(BenchSlice, DoesNotCountWarmingUp) {
  int calls = 0;
  const auto times = time_calls(1e-3, 2, [&] { ++calls; });
  EXPECT_GE(times.size(), 2u);
  // Two calls to warm up, or one where the machine was busy meanwhile.
  EXPECT_GT(static_cast<std::size_t>(calls), times.size());
  EXPECT_LE(static_cast<std::size_t>(calls), times.size() + 2);
}

TEST(BenchIdle, WaitsForAThreadThatSpinsAndNotForOneThatSleeps) {
  std::atomic<bool> stop{false};
  const double begin = now();
  std::thread spinner([&] {
    while (now() - begin < 0.03) {
    }
    while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  wait_until_idle(0);
  EXPECT_GE(now() - begin, 0.03);
  stop = true;
  spinner.join();
}

}  // namespace
}  // namespace addnorm::bench
