// addnorm train: from data to a trained model in a folder.
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "addnorm/kernels/fma_peak.h"
#include "addnorm/probe/probed_run.h"
#include "cli/models/answers.h"
#include "cli/models/run_model.h"
#include "cli/report/page.h"
#include "cli/terminal/command.h"
#include "cli/terminal/figures.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/value.h"
#include "cli/train/options.h"
#include "cli/train/view.h"

namespace addnorm::cli {
namespace {

namespace fs = std::filesystem;

struct TrainChoices {
  OptionCollector library;
  RunPlace place;
  fs::path config;
  bool resume = false, resume_or_start = false, replan = false, json = false, quiet = false, no_report = false;
};

std::string base_name(const RunOptions& o) {
  if (o.data.empty()) return o.task.empty() ? name_of(o.model.model) : o.task;
  if (o.data[0] == "-") return "text";
  fs::path path = fs::absolute(o.data[0]).lexically_normal();  // "..", "." and "texts/" have names too
  if (!path.has_filename()) path = path.parent_path();
  const std::string stem = path.filename().stem().string();
  return stem.empty() ? "run" : stem;
}

/// ./runs/NAME, or the first ./runs/NAME-2, ... that is free.
fs::path free_folder(const std::string& name) {
  fs::path folder = fs::path("runs") / name;
  for (int number = 2; fs::exists(folder); ++number) folder = fs::path("runs") / concat(name, "-", number);
  return folder;
}

/// Fills in `place` what the file of options says.
RunRequest request_of(TrainChoices& o) {
  const auto one_of = [](bool both, const char* what) { require(!both, what, " are both given; leave one of them out"); };
  RunPlace& place = o.place;
  one_of(!place.out.empty() && !place.name.empty(), "--out and --name");
  one_of(o.resume && o.resume_or_start, "--resume and --resume-or-start");
  const bool again = o.resume || o.resume_or_start;
  require(again || !o.replan, "--replan has no effect without --resume");
  RunRequest request{.given = o.library.given(o.config, place)};
  one_of(!place.out.empty() && !place.name.empty(), "out and name");
  const bool leaves = place.name == "." || place.name == ".." || place.name.find('/') != std::string::npos;
  require(!leaves, "--name is '", place.name, "'; it must be the name of one folder below ./runs. --out takes any path");
  request.cache = place.cache.empty() ? default_cache() : place.cache;
  request.resume = o.resume;
  request.resume_or_start = o.resume_or_start;
  request.replan = o.replan;
  require(!again || !place.out.empty() || !place.name.empty(), "--resume needs --out FOLDER (or --name): which run shall go on?");
  if (!place.out.empty())
    request.folder = place.out;
  else
    request.folder = place.name.empty() ? free_folder(base_name(request.given.options)) : fs::path("runs") / place.name;
  return request;
}

/// Says what went wrong, and nothing else.
class QuietView : public RunObserver {
 public:
  void on_warning(const std::string& message) override { std::cerr << "warning: " << message << '\n' << std::flush; }
  bool go_on() override { return SignalWatch::caught() == 0; }
};

/// "probes: every 10 steps, 3 % of the time (runs/x/probes.jsonl)"; "" without.
std::string text_of(const ProbeCost& cost) {
  if (cost.records == 0) return "";
  const std::string share = cost.share ? concat(", ", fixed(100 * *cost.share, 1), " % of the time") : "";
  return concat("probes: every ", cost.every, " steps", share, " (", cost.file.string(), ")");
}

RunResult train_and_print(const RunRequest& request, bool quiet, int threads) {
  if (quiet) {
    QuietView view;
    return train_run_with_probes(request, view);
  }
  const std::vector<std::string>& data = request.given.options.data;
  if (request.given.given.contains("data") && data == std::vector<std::string>{"-"}) note_if_waiting(std::cerr);
  TrainView view(std::cerr, isatty(STDERR_FILENO) != 0, kernels::fma_peak(threads), request.folder);
  ProbedRun run(view, request.folder);
  RunResult result = train_run(request, run);
  view.wipe();
  if (const std::string line = text_of(run.cost()); !line.empty()) std::cerr << line << '\n';
  return result;
}

int train(TrainChoices& o) {
  const SignalWatch signals;  // before any other thread
  const RunRequest request = request_of(o);
  if (!o.quiet) print_notes(o.place, o.config, request.given.options.model);
  const int threads = use_threads(o.place.threads.value_or(0));
  const RunResult result = train_and_print(request, o.quiet, threads);
  if (SignalWatch::caught()) {
    if (o.json && result.steps > 0) std::cout << summary_json(request.folder, result) << '\n' << std::flush;
    if (result.steps == 0) {
      std::cerr << "stopped by a signal before a step was done\n";
      return SignalWatch::exit_code();
    }
    std::cerr << "stopped by a signal after step " << result.steps << "; go on with: addnorm train --out "
              << for_shell(request.folder.string()) << " --resume\n";
    return SignalWatch::exit_code();
  }
  if (o.json)
    std::cout << summary_json(request.folder, result) << '\n' << std::flush;
  else if (!o.quiet)
    try {
      show_sample(request.folder, result.data, std::cout, std::cerr);
    } catch (const Error& error) {  // the model is trained and saved anyway
      std::cerr << "no sample: " << error.what() << '\n';
    }
  const fs::path page = request.folder / "report.html";  // last: it is an extra
  const bool reported = !o.no_report && write_beside({{.path = request.folder}}, page);
  if (reported && !o.quiet) std::cerr << "report: " << file_link(page) << '\n';
  return 0;
}

}  // namespace

void add_train(Program& program) {
  const auto o = std::make_shared<TrainChoices>();
  Command command = program.command("train", "a model on your text, pairs or tables, crash-safe and resumable");
  command.option("--out PATH", o->place.out, "folder of the run (default: runs/NAME)");
  command.option("--name NAME", o->place.name, "of the run, below ./runs (default: by the data)");
  command.option("--config FILE", o->config,
                 "options from a JSON file, e.g. {\"layers\": 6, \"lr\": 3e-4}, or from the run.json of another run; options "
                 "given here win");
  command.option("--resume", o->resume, "go on with the run in --out, exactly");
  command.option("--resume-or-start", o->resume_or_start, "go on where there is a run, else begin one");
  command.option("--replan", o->replan, "with --resume and other --steps: follow the schedule of the new number of steps");
  command.given("--threads N", concat("at most so many; ", kThreadsByDefault, " (default: 0)"),
                [o](const std::string& text) { o->place.threads = parse_value<int>(text); });
  command.option("--cache PATH", o->place.cache, "folder for tokenised text (default: addnorm in the user's cache folder)");
  command.option("--json", o->json, "the result as JSON on stdout, instead of a sample");
  command.option("--quiet", o->quiet, "only warnings and errors on stderr, no sample of text at the end; --json stays");
  command.option("--no-report", o->no_report, "no report.html in the folder at the end");
  o->library.declare(command);
  command.examples({"addnorm train", "addnorm train --data book.txt",
                    "addnorm train --data book.txt --layers 12 --arrangement post-ln --steps 500",
                    "addnorm train --model seq2seq --task reverse", "addnorm train --model seq2seq --data pairs.tsv",
                    "addnorm train --out runs/book --resume"});
  command.run([o] { return train(*o); });
}

}  // namespace addnorm::cli
