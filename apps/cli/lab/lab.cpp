// addnorm lab: predicts which configurations train, runs them, and says why those that failed did.
#include "cli/lab/lab.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/claims/claims.h"
#include "cli/models/run_model.h"
#include "cli/report/page.h"
#include "cli/terminal/command.h"
#include "cli/terminal/figures.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/value.h"
#include "cli/train/options.h"

namespace addnorm::cli {
namespace {

struct LabChoices {
  GridCollector grid;
  GridPlace place;
  std::filesystem::path file;
  std::optional<std::size_t> seeds;
  std::uint64_t with_warmup = 0;
  bool no_confirm = false, no_predict = false;
};

void print(const GridResult& result) {
  const Terminal terminal = terminal_of_stdout();
  std::cout << '\n' << lab_table(result, terminal) << confusion_table(result) << '\n';
  if (result.not_written.empty()) std::cout << "results: " << file_link(result.folder / "lab.json") << '\n';
  std::cout << "next:\n";
  for (const std::string& command : next_commands(result)) std::cout << "  " << command << '\n';
  std::cout << std::flush;
}

/// After a signal.
std::string what_is_kept(const GridResult& result) {
  const auto done = std::ranges::count(result.runs, RunState::done, &GridRun::state);
  return concat("runs done: ", done, " of ", result.runs.size(), ", kept with those that were begun in ", result.folder.string());
}

int run_lab(const LabChoices& o) {
  GridRequest request = o.place.request(o.grid.spec(o.file, o.seeds, o.with_warmup));
  request.confirm = !o.no_confirm;
  request.predict = !o.no_predict;
  for (const std::string& note : request.spec.notes) std::cerr << "note: " << note << '\n';
  LabView view(std::cerr, terminal_of(STDERR_FILENO));
  const GridResult result = run_grid(request, view);
  view.wipe();
  if (o.place.json)
    std::cout << to_json(result) << '\n' << std::flush;
  else
    print(result);
  if (!result.not_written.empty()) std::cerr << "addnorm lab: the result is not kept: " << result.not_written << '\n';
  if (SignalWatch::caught()) return stopped_by_signal(what_is_kept(result));
  const auto page = result.folder / "report.html";
  if (result.not_written.empty() && write_beside({{.path = result.folder}}, page))
    (o.place.json ? std::cerr : std::cout) << "report: " << file_link(page) << '\n' << std::flush;
  if (const std::size_t failed = result.failed(); failed > 0) {
    std::cerr << "addnorm lab: " << failed << (failed == 1 ? " run" : " runs")
              << " failed, see above; the same command tries again\n";
    return 1;
  }
  return result.not_written.empty() ? 0 : 1;
}

int lab(const LabChoices& o) {
  const SignalWatch signals;  // before any other thread
  try {
    return run_lab(o);
  } catch (const Error&) {
    if (SignalWatch::caught()) return stopped_by_signal("the data was still being read and no run was begun");
    throw;
  }
}

/// One prediction, in its own process: what `lab` starts for each row.
int predict_one(const std::vector<std::string>& files, int threads) {
  require(files.size() == 2, "two files are needed: what is asked, and where the answer goes");
  use_threads(threads);
  answer_question(files[0], files[1], option_word);
  return 0;
}

void add_predict(Command& lab_command) {
  struct Choices {
    std::vector<std::string> files;
    int threads = 1;
  };
  const auto o = std::make_shared<Choices>();
  Command command = lab_command.inside("predict", "");
  command.positional("files", o->files, "what is asked, and where the answer goes");
  command.option("--threads N", o->threads, "at most so many");
  command.run([o] { return predict_one(o->files, o->threads); });
}

}  // namespace

void add_lab(Program& program) {
  const auto o = std::make_shared<LabChoices>();
  Command command = program.command("lab", "which arrangements train, at which depth, rate and warm-up, and why not");
  command.option("--grid FILE", o->file,
                 "rows from a JSON file, e.g. {\"grid\": {\"arrangement\": [\"post-ln\", \"pre-ln\"]}}; docs/lab.md");
  command.given("--seeds N", "runs of every row (default: 3; 1 of some rows of the default lab)", [o](const std::string& text) {
    o->seeds = parse_value<std::uint64_t>(text);
    require(*o->seeds >= 1 && *o->seeds <= 100, "--seeds is ", *o->seeds, "; it must be 1 ... 100");
  });
  command.option("--with-warmup N", o->with_warmup,
                 "rows that fail are run again with N warm-up steps, to tell 'needs warm-up' from 'will not train'; 0: not");
  command.option("--no-confirm", o->no_confirm, "no extra runs that would confirm the cause of a failure");
  command.option("--no-predict", o->no_predict, "no predictions, only the runs");
  o->place.declare(command);
  o->grid.declare(command);
  command.section(
      "Without options: placement by initialisation, 12 layers",
      {{"Act 1", "Xavier's weights: post-ln, norm-skip, pre-ln with 3 seeds; plain, deepnorm, rezero with 1"},
       {"Act 2", "GPT-2's weights: post-ln, norm-skip, pre-ln, plain with 1 seed"},
       {"Act 3", "GPT-2's weights with embeddings as large as Xavier's: post-ln, norm-skip with 3 seeds; pre-ln, plain with 1"},
       {"Act 4", "Xavier's weights with 200 warm-up steps: post-ln with 3 seeds; norm-skip with 1"}});
  command.section(
      "Every option of 'train' may be a list",
      {{"--layers 6,24", "every combination of the lists is a row"},
       {"--steps 100", "one value is said of every row; without arrangements, depths, warm-ups and starts: of all acts"}});
  command.examples({"addnorm lab", "addnorm lab --arrangements post-ln,pre-ln,deepnorm --inits xavier,gpt2 --layers 6,24,96",
                    "addnorm lab --arrangements post-ln --layers 12 --lr 3e-4,1e-3 --warmup-steps 0,200 --seeds 5",
                    "addnorm lab --data book.txt --out runs/lab-book", "addnorm lab --grid grid.json --json > result.json"});
  command.run([o] { return lab(*o); });
  add_lab_claims(command);
  add_predict(command);
}

}  // namespace addnorm::cli
