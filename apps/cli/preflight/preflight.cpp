// addnorm preflight: will it train?
#include <iostream>

#include "addnorm/core/error.h"
#include "addnorm/lab/preflight.h"
#include "cli/models/run_model.h"
#include "cli/preflight/view.h"
#include "cli/report/page.h"
#include "cli/terminal/command.h"
#include "cli/terminal/figures.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/value.h"
#include "cli/train/options.h"

namespace addnorm::cli {
namespace {

struct PreflightChoices {
  OptionCollector library;
  RunPlace place;
  std::string config_file;
  std::filesystem::path config, report;
  std::uint64_t seeds = 3;
  double seconds = 10;
  bool json = false, quiet = false, max_lr = false, min_warmup = false, no_advice = false, ascii = false;
};

PreflightRequest request_of(PreflightChoices& o) {
  require(o.config_file.empty() || o.config.empty(), "a config is given twice, as ", o.config_file, " and with --config ",
          o.config.string(), "; leave one of them out");
  const std::filesystem::path file = o.config.empty() ? std::filesystem::path(o.config_file) : o.config;
  PreflightRequest request{.given = o.library.given(file, o.place)};
  if (!o.quiet) print_notes(o.place, file, request.given.options.model);
  request.seeds = o.seeds;
  request.seconds = o.seconds;
  request.advice = !o.no_advice;
  request.cache = o.place.cache.empty() ? default_cache() : o.place.cache;
  require(o.seeds >= 1 && o.seeds <= 100, "--seeds is ", o.seeds, "; it must be 1 ... 100");
  require(o.seconds > 0 && o.seconds <= kMostSeconds, "--seconds is ", o.seconds, "; it must be above 0, and at most ",
          kMostSeconds);
  require(o.report.empty() || !(o.max_lr || o.min_warmup),
          "--report shows a verdict, and --max-lr and --min-warmup give none; leave it out");
  require(!(o.max_lr && o.min_warmup), "--max-lr and --min-warmup are both given; ask for one after the other");
  return request;
}

int find_rate(const PreflightRequest& request, PreflightProgress& view, bool json) {
  const std::optional<RateFound> found = largest_rate(request, &view);
  view.wipe();
  if (SignalWatch::caught()) return stopped_by_signal("preflight keeps nothing", "begin again with");
  if (json)
    std::cout << "{\"max_lr\":" << (found ? concat(found->rate) : "null")
              << ",\"larger_fails\":" << (found && found->larger_fails ? "true" : "false") << "}\n";
  else if (found && found->larger_fails)
    std::cout << "the largest rate that passes the trial: --lr " << rate_text(found->rate) << '\n';
  else if (found)
    std::cout << "no rate up to " << rate_text(found->rate) << ", a hundred times the asked one, fails the trial\n";
  else
    std::cout << "no rate down to a hundredth of the asked one passes the trial\n";
  return 0;
}

int find_warmup(const PreflightRequest& request, PreflightProgress& view, bool json) {
  const std::optional<std::size_t> steps = shortest_warmup(request, &view);
  view.wipe();
  if (SignalWatch::caught()) return stopped_by_signal("preflight keeps nothing", "begin again with");
  if (json)
    std::cout << "{\"min_warmup\":" << (steps ? concat(*steps) : "null") << "}\n";
  else if (steps)
    std::cout << "the shortest warm-up that passes the trial: --warmup-steps " << *steps << '\n';
  else
    std::cout << "no warm-up passes the trial\n";
  return 0;
}

bool write_page(const PreflightResult& result, const std::filesystem::path& file, bool json) {
  const std::string& arrangement = result.options.model.arrangement;
  const std::string name = concat("preflight of ", arrangement, ", ", result.options.model.layers, " layers");
  if (!write_beside({{.path = name, .text = to_json(result)}}, file)) return false;
  (json ? std::cerr : std::cout) << "report: " << file_link(file) << '\n';
  return true;
}

int run_and_print(PreflightChoices& o) {
  const PreflightRequest request = request_of(o);
  use_threads(o.place.threads.value_or(0));
  PreflightProgress progress(o.quiet || o.json);
  if (o.max_lr) return find_rate(request, progress, o.json);
  if (o.min_warmup) return find_warmup(request, progress, o.json);
  Terminal terminal = terminal_of_stdout();
  if (o.ascii) terminal.unicode = false;
  PreflightView view(o.quiet, terminal);
  PreflightResult result = preflight(request, o.json ? &progress : &view);
  result.notes.insert(result.notes.end(), o.place.notes.begin(), o.place.notes.end());
  view.wipe();
  if (SignalWatch::caught())
    return stopped_by_signal(
        view.has_verdict() ? "the verdict above stands, more advice was not looked for" : "preflight keeps nothing",
        "begin again with");
  if (o.json)
    std::cout << to_json(result) << '\n' << std::flush;
  else if (result.forecast != Forecast::trains && result.advice.empty() && !o.no_advice)
    std::cout << "\nno change that was tried passes the same trial\n";
  return o.report.empty() || write_page(result, o.report, o.json) ? 0 : 1;
}

int run(PreflightChoices& o) {
  const SignalWatch signals;  // before any other thread
  try {
    return run_and_print(o);
  } catch (const Error&) {
    if (SignalWatch::caught()) return stopped_by_signal("preflight keeps nothing", "begin again with");
    throw;
  }
}

}  // namespace

void add_preflight(Program& program) {
  const auto o = std::make_shared<PreflightChoices>();
  Command command = program.command("preflight", "will it train? seconds, from options or a config.json");
  command.positional("config", o->config_file, "config.json of ours or of Hugging Face, run.json, or a file of options");
  command.option("--config FILE", o->config, "the same");
  command.option("--seeds N", o->seeds, "trials, each with another seed");
  command.option("--seconds X", o->seconds, "for the trials of the verdict, roughly; a larger model is tried as a narrower twin");
  command.option("--max-lr", o->max_lr, "find the largest rate that passes");
  command.option("--min-warmup", o->min_warmup, "find the shortest warm-up that passes");
  command.option("--no-advice", o->no_advice, "only the verdict, without a search for changes that pass");
  command.given("--threads N", concat("at most so many; ", kThreadsByDefault, " (default: 0)"),
                [o](const std::string& text) { o->place.threads = parse_value<int>(text); });
  command.option("--cache PATH", o->place.cache, "folder for tokenised text (default: addnorm in the user's cache folder)");
  command.option("--json", o->json, "the result as JSON on stdout");
  command.option("-o,--report FILE", o->report, "also a page of it, e.g. preflight.html");
  command.option("--quiet", o->quiet, "no progress on stderr");
  command.option("--ascii", o->ascii, "no characters beyond ASCII");
  o->library.declare(command);
  command.examples({"addnorm preflight --arrangement post-ln --layers 48", "addnorm preflight config.json --lr 6e-4",
                    "addnorm preflight --arrangement post-ln --layers 12 --lr 1e-3 --warmup-steps 0 --max-lr",
                    "addnorm preflight --data book.txt --layers 24 --json"});
  command.run([o] { return run(*o); });
}

}  // namespace addnorm::cli
