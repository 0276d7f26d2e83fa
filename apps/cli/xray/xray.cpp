// addnorm xray: the residual stream of a trained model, unit by unit.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <utility>

#include "addnorm/core/error.h"
#include "addnorm/probe/xray.h"
#include "addnorm/probe/xray_text.h"
#include "addnorm/residual/explain.h"
#include "cli/models/run_model.h"
#include "cli/report/page.h"
#include "cli/terminal/command.h"
#include "cli/terminal/signals.h"
#include "cli/train/options.h"
#include "cli/xray/view.h"

namespace addnorm::cli {
namespace {

struct XrayChoices {
  std::string run, weights, text, ln;
  std::filesystem::path report;
  std::uint64_t tokens = 1024, seq_len = 0;
  int threads = 0;
  bool json = false, quiet = false, ascii = false;
};

AttributionNorm norm_asked(const std::string& name) {
  require(name.empty() || name == "recompute" || name == "frozen", "--ln is '", name, "'; it must be recompute or frozen");
  return name.empty() ? AttributionNorm::automatic : name == "frozen" ? AttributionNorm::frozen : AttributionNorm::recompute;
}

int stopped() { return stopped_by_signal("xray keeps nothing", "begin again with"); }

bool no_signal() { return SignalWatch::caught() == 0; }

/// How far it is, on a line of a terminal that is wiped in the end.
class Progress {
 public:
  explicit Progress(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (written_) std::cerr << "\r\033[K" << std::flush;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  bool operator()(double share) {
    if (shown_) std::cerr << "\r\033[Klooking: " << static_cast<int>(100 * share) << " %" << std::flush;
    written_ = shown_;
    return no_signal();
  }

 private:
  bool shown_, written_ = false;
};

std::string formula_of_model(const ModelConfig& model) {
  const Arrangement row = with_options(arrangement_of(model), residual_options(model));
  return units_text(formula_of(row, first_stack_shape(model), norm_of(model)));
}

void name_tokens(const Tokenizer& tokenizer, XrayResult& result) {
  const TokenNames names(tokenizer);
  for (StackXray& stack : result.stacks)
    for (StreamPeak& peak : stack.peaks)
      if (peak.token >= 0 && static_cast<std::size_t>(peak.token) < tokenizer.vocabulary()) peak.text = names(peak.token);
}

/// The folder's name also where its weights were named; a llama2.c .bin has its own.
std::string name_of_model(const std::filesystem::path& given) {
  std::filesystem::path whole = std::filesystem::absolute(given).lexically_normal();
  if (std::filesystem::is_regular_file(whole) && whole.extension() != ".bin") whole = whole.parent_path();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

bool write_page(const XrayResult& result, const XrayChoices& o) {
  if (!write_beside({{.path = result.model, .text = to_json(result)}}, o.report)) return false;
  (o.json ? std::cerr : std::cout) << "report: " << file_link(o.report) << '\n';
  return true;
}

std::string xray_word(std::string field) {
  return field == "file" ? "--text" : field == "window" ? "--seq-len" : option_word(std::move(field));
}

XrayText text_asked(const RunModel& run, const XrayChoices& o) {
  const Scratch scratch("xray");
  bool waiting = o.text == "-";
  const auto go_on = [&waiting] {  // is first asked when the text is about to be read
    if (std::exchange(waiting, false)) note_if_waiting(std::cerr);
    return no_signal();
  };
  return xray_text(run, {.folder = o.run,
                         .file = o.text,
                         .tokens = o.tokens,
                         .window = o.seq_len,
                         .cache = scratch.path,
                         .go_on = go_on,
                         .words = xray_word});
}

/// False: a signal has stopped it.
bool look(const RunModel& run, const XrayText& text, XrayOptions options, bool quiet, XrayResult& result) {
  Progress progress(quiet);
  options.go_on = [&](double share) { return progress(share); };
  result = xray(*run.model, text.batches, options);
  if (result.stopped || run.family.empty()) return !result.stopped;
  const Placement placement = placement_on(run, text.sample, no_signal);
  report_placement(run.model->config(), placement, text.source, result);
  return !placement.found.stopped;
}

int run_xray(const XrayChoices& o) {
  require(!o.run.empty(), "which model? addnorm xray FOLDER");
  require(o.tokens > 0, "--tokens is 0; it must be at least 1");
  XrayOptions options{.ln = norm_asked(o.ln), .words = xray_word};
  const SignalWatch signals;  // before any other thread
  use_threads(o.threads);
  if (!o.report.empty()) require_writable(o.report);
  std::ostringstream notes;
  const RunModel run = load_run(o.run, o.weights, notes, TextNeeds::text_or_ids);
  const XrayText text = text_asked(run, o);
  if (text.stopped) return stopped();
  for (const std::string& note : text.notes) notes << note << '\n';
  if (!o.quiet) std::cerr << notes.str();
  if (run.sentence) options.pooling = run.sentence->pooling;
  XrayResult result;
  if (!look(run, text, options, o.quiet || o.json, result)) return stopped();
  for (const std::string& warning : result.warnings) std::cerr << "warning: " << warning << '\n';
  result.model = name_of_model(o.run);
  result.text = text.source;
  result.formula = formula_of_model(run.model->config());
  if (run.tokenizer) name_tokens(*run.tokenizer, result);
  if (o.json) {
    std::cout << to_json(result) << '\n' << std::flush;
  } else {
    Terminal terminal = terminal_of_stdout();
    if (o.ascii) terminal.unicode = false;
    std::cout << xray_view(result, terminal) << std::flush;
  }
  return o.report.empty() || write_page(result, o) ? 0 : 1;
}

}  // namespace

void add_xray(Program& program) {
  const auto o = std::make_shared<XrayChoices>();
  Command command = program.command("xray", "the residual stream of a trained model: which units work, which could go");
  command.positional(
      "model", o->run,
      "folder of a run, of any model.safetensors with config.json and tokenizer.json, or of Hugging Face; a llama2.c .bin");
  command.option(
      "--text FILE", o->text,
      "what the model reads, or - (default: the data its run kept from training, or 40 built-in sentences); without a tokenizer "
      "ids, a sequence on each line (default: drawn)");
  command.option(
      "--ln NAME", o->ln,
      "how norms count when logits are shared out: frozen (the scale they have, linear) or recompute (anew, unit by unit); "
      "default: frozen where the arrangement allows it");
  command.option("--tokens", o->tokens, "look at so many tokens of the text, at most");
  command.option("--seq-len", o->seq_len, "tokens of a sequence; 0: 128 for language models, else what the model takes");
  command.option("--weights NAME", o->weights, "best or last (default: the best, where validation data was measured)");
  command.option("--threads", o->threads, concat("at most so many; ", kThreadsByDefault));
  command.option("--json", o->json, "the result as JSON on stdout");
  command.option("-o,--report FILE", o->report, "also a page of it, e.g. xray.html");
  command.option("--quiet", o->quiet, "no progress on stderr");
  command.option("--ascii", o->ascii, "no characters beyond ASCII");
  command.examples({"addnorm xray runs/book", "addnorm xray gpt2 --text other.txt --report xray.html",
                    "addnorm xray runs/book --ln recompute --json"});
  command.run([o] { return run_xray(*o); });
}

}  // namespace addnorm::cli
