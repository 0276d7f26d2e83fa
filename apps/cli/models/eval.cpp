// addnorm eval: how well a trained model does on data.
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>

#include "addnorm/core/names.h"
#include "addnorm/train/run_data.h"
#include "addnorm/train/run_folder.h"
#include "cli/models/answers.h"
#include "cli/models/placement_check.h"
#include "cli/models/run_model.h"
#include "cli/terminal/command.h"
#include "cli/terminal/figures.h"
#include "cli/terminal/signals.h"
#include "cli/train/options.h"
#include "core/figures.h"
#include "core/json/json.h"

namespace addnorm::cli {
namespace {

namespace fs = std::filesystem;

struct EvalChoices {
  std::string run, weights;
  std::vector<fs::path> data;
  std::uint64_t batch_size = 16, samples = 0;
  int threads = 0;
  bool truncate = false, json = false;
};

/// The options of the run, with its own tokenizer and the data that is asked for now.
RunOptions options_for(const RunModel& run, const EvalChoices& o) {
  RunOptions options;
  const RunFolder folder{o.run};
  const bool recorded = fs::exists(folder.record());
  require(recorded || !o.data.empty(), o.run, " has no run.json that says on what it was trained; give --data");
  const ModelConfig& config = run.model->config();
  if (!run.tokenizer && config.model != ModelKind::mlp) throw_no_tokenizer(o.run);
  if (config.model == ModelKind::encoder) require_mask(run, o.run);
  if (recorded) options = run_options_from_json(read_run_record(folder).options, folder.record().string()).options;
  options.words = option_word;
  options.model = config;
  options.data = o.data.empty() ? data_of_run(folder, option_word) : std::vector<std::string>(o.data.begin(), o.data.end());
  if (run.tokenizer && !options.data.empty()) options.tokenizer = run.tokenizer_path.string();
  options.truncate = options.truncate || o.truncate;
  options.extra = run.extra;
  options.framed = !run.family.empty();
  return options;
}

/// What is measured, and its description for the table.
struct Part {
  std::shared_ptr<const Dataset> data;
  const char* name;  // "validation", "all"
  std::string summary;
  bool pairs;
};

Part part_of(const RunSource& source, const RunOptions& options, bool run_answers, bool given, bool learned) {
  const RunData known = given ? RunData{} : source.datasets(options);
  const bool pairs = options.model.model == ModelKind::seq2seq || known.pairs || run_answers;
  const std::string files = options.input.empty() ? listed(options.data) : "the standard input";
  if (given) return {source.everything(options), "all", files + (learned ? ", also what it has learned from" : ""), pairs};
  if (options.data.empty()) return {known.validation, "validation", "made up anew, not what it has learned from", pairs};
  if (options.validation > 0 && known.validation)
    return {known.validation, "validation", "the part of " + files + " that was kept from training", pairs};
  return {source.everything(options), "all", files + ", which it has learned from: nothing was kept for validation", pairs};
}

void print_table(const Evaluation& e, const Part& part, ModelKind kind, std::ostream& out) {
  const auto line = [&](const std::string& name, const std::string& value) {
    out << std::left << std::setw(16) << name << value << '\n';
  };
  const bool classes = kind == ModelKind::classifier || kind == ModelKind::mlp, masked = kind == ModelKind::encoder;
  line("data", part.summary);
  for (const auto& [name, value] : measures(e, kind, part.pairs)) {
    if (name == "loss")
      line(name, fixed(value, 4) + (classes ? " nats per sample" : masked ? " nats per masked token" : " nats per token"));
    if (name == "perplexity") line(name, fixed(value, 3));
    if (name == "bits_per_byte") line("bits per byte", fixed(value, 4));
    if (name == "accuracy") line(classes ? name : "token accuracy", fixed(100 * value, 2) + " %");
    if (name == "exact_match") line("exact match", fixed(100 * value, 2) + " %");
  }
  line(classes ? "samples" : "tokens", grouped(e.labels));
}

Json as_json(const Evaluation& e, const Part& part, const RunOptions& options, const PlacementFinding* placement) {
  Json json{{"data", options.data}, {"part", part.name}};
  for (const auto& [name, value] : measures(e, options.model.model, part.pairs)) json[name] = value;
  json["labels"] = e.labels;
  json["sequences"] = e.sequences;
  if (placement)
    json["placement"] = Json{{"configured", placement->configured},
                             {"behaves_as", placement->behaves_as},
                             {"ground", name_of(placement->ground)},
                             {"agrees", placement->agrees},
                             {"final_norm_missing", placement->final_norm_missing}};
  return json;
}

/// Of the data that the run has learned from; 0: not known, as for a model without its run.
std::uint64_t learned_fingerprint(const fs::path& run) {
  const RunFolder folder{run};
  return fs::exists(folder.record()) ? read_run_record(folder).data_fingerprint : 0;
}

/// The part that was kept from training is known only as long as the data is the same.
void warn_of_other_data(const fs::path& run, const RunSource& source) {
  const std::uint64_t then = learned_fingerprint(run);
  if (then != 0 && then != source.fingerprint())
    std::cerr << "warning: the data is not what it was when the run began; some of what is measured may have been learned\n";
}

int run_eval(const EvalChoices& o) {
  require(!o.run.empty(), "which run? addnorm eval runs/NAME --data FILE");
  const SignalWatch signals;  // before any other thread
  require(o.batch_size > 0, "--batch-size is 0; it must be at least 1");
  use_threads(o.threads);
  std::ostringstream notes;
  const RunModel run = load_run(o.run, o.weights, notes);
  const ModelKind kind = run.model->config().model;
  if (kind == ModelKind::encoder && !run.model->config().head)
    throw DataError(o.run + " holds an encoder that ends in vectors: there is no loss to measure; 'addnorm xray' looks into it");
  require(!o.truncate || run.answers || kind == ModelKind::seq2seq || kind == ModelKind::classifier,
          "--truncate has no effect except on pairs and labelled text; ", o.run, " takes neither. Leave it out");
  std::cerr << notes.str();
  const auto go_on = [] { return SignalWatch::caught() == 0; };
  const auto goes_on = [&](double) { return go_on(); };
  RunOptions options = options_for(run, o);
  const Scratch scratch("eval");
  std::unique_ptr<KeptFile> input;
  if (options.data == std::vector<std::string>{"-"}) {
    note_if_waiting(std::cerr);
    input = kept_standard_input(scratch.path, goes_on);
    if (!input) return SignalWatch::exit_code();
    options.input = input->path;
  }
  const auto source = open_source(options, scratch.path, goes_on);
  if (!source) return SignalWatch::exit_code();
  const bool given = !o.data.empty();
  if (!given && !options.data.empty()) warn_of_other_data(o.run, *source);
  const bool learned = given && source->fingerprint() == learned_fingerprint(o.run);
  const Part part = part_of(*source, options, run.answers, given, learned);
  const std::uint64_t all = part.data->size();  // 0: made-up data has no end
  const std::uint64_t wanted = o.samples ? o.samples : all ? all : 1024;
  const std::uint64_t samples = all ? std::min(wanted, all) : wanted;
  std::optional<PlacementFinding> placement;
  if (!run.family.empty()) {
    placement = placement_on(run, *part.data, go_on).found;
    if (placement->stopped) return SignalWatch::exit_code();
    if (const std::string warning = warning_of(*placement); !warning.empty()) std::cerr << "warning: " << warning << '\n';
  }
  const Evaluation found = evaluate(*run.model, *part.data, samples, o.batch_size, go_on);
  if (found.stopped) return SignalWatch::exit_code();
  if (o.json)
    std::cout << as_json(found, part, options, placement ? &*placement : nullptr).dump() << '\n';
  else
    print_table(found, part, options.model.model, std::cout);
  return 0;
}

}  // namespace

void add_eval(Program& program) {
  const auto o = std::make_shared<EvalChoices>();
  Command command = program.command("eval", "loss, perplexity, bits per byte, accuracy of a trained model on data");
  command.positional("run", o->run, "folder of a run, or of a checkpoint of others (Hugging Face, llama2.c)");
  command.option("--data PATH,...", o->data,
                 "files, folders, or - (default: the part of its data that the run kept from training)");
  command.option("--samples", o->samples, "only so many sequences; 0: all (made-up data: 1024)");
  command.option("--batch-size", o->batch_size, "sequences at once");
  command.option("--truncate", o->truncate, "cut pairs and texts that are longer than the model takes");
  command.option("--weights NAME", o->weights, "best or last (default: the best, where validation data was measured)");
  command.option("--threads", o->threads, concat("at most so many; ", kThreadsByDefault));
  command.option("--json", o->json, "one JSON object on stdout");
  command.section(
      "What is read",
      {{"imported model", "text with the tokens around it that its tokenizer puts there"},
       {"masked model", "15 % of the tokens are predicted: 80 % of these masked, 10 % replaced, 10 % left (xray: all masked)"}});
  command.examples({"addnorm eval runs/book --data other.txt", "addnorm eval runs/reverse --json"});
  command.run([o] { return run_eval(*o); });
}

}  // namespace addnorm::cli
