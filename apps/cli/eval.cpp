// addnorm eval: how well a trained model does on data.
#include <unistd.h>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "addnorm/core/machine.h"
#include "addnorm/core/parallel.h"
#include "addnorm/train/run_data.h"
#include "addnorm/train/run_folder.h"
#include "commands.h"
#include "figures.h"
#include "run_model.h"
#include "signals.h"

namespace addnorm::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct EvalChoices {
  std::string run, weights;
  std::vector<std::string> data;
  std::uint64_t batch_size = 16, samples = 0;
  int threads = 0;
  bool truncate = false, json = false;
};

/// The options of the run, with its own tokenizer and the data that is asked for now.
RunOptions options_for(const RunModel& run, const EvalChoices& o) {
  RunOptions options;
  const RunFolder folder{o.run};
  if (fs::exists(folder.record()))
    options = run_options_from_json(read_run_record(folder).options, folder.record().string()).options;
  require(fs::exists(folder.record()) || !o.data.empty(), o.run,
          " has no run.json that says on what it was trained; give --data");
  options.model = run.model->config();
  if (!o.data.empty()) options.data = o.data;
  if (run.tokenizer && !options.data.empty()) options.tokenizer = (run.folder / "tokenizer.json").string();
  options.truncate = options.truncate || o.truncate;
  options.extra = run.extra;
  return options;
}

void print_table(const Evaluation& e, ModelKind kind, std::ostream& out) {
  const auto line = [&](const char* name, const std::string& value) {
    out << std::left << std::setw(16) << name << value << '\n';
  };
  const bool classes = kind == ModelKind::classifier || kind == ModelKind::mlp;
  line("loss", fixed(e.loss, 4) + (classes ? " nats per sample" : " nats per token"));
  if (!classes) line("perplexity", fixed(e.perplexity(), 3));
  if (std::isfinite(e.bits_per_byte())) line("bits per byte", fixed(e.bits_per_byte(), 4));
  line(classes ? "accuracy" : "token accuracy", fixed(100 * e.accuracy(), 2) + " %");
  if (kind == ModelKind::seq2seq) line("exact match", fixed(100 * e.exact_match(), 2) + " %");
  line(classes ? "samples" : "tokens", grouped(e.labels));
}

Json as_json(const Evaluation& e, ModelKind kind) {
  Json json{{"loss", e.loss}, {"perplexity", e.perplexity()}, {"bits_per_byte", e.bits_per_byte()}, {"accuracy", e.accuracy()}};
  if (kind == ModelKind::seq2seq) json["exact_match"] = e.exact_match();
  json["labels"] = e.labels;
  json["sequences"] = e.sequences;
  return json;
}

/// A folder that is gone when it is not needed any more.
struct Scratch {
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path = fs::temp_directory_path() / concat("addnorm-eval-", getpid());
};

int run_eval(const EvalChoices& o) {
  require(!o.run.empty(), "which run? addnorm eval runs/NAME --data FILE");
  const SignalWatch signals;  // before any other thread
  set_threads(o.threads ? o.threads : granted_threads());
  const RunModel run = load_run(o.run, o.weights, std::cerr);
  const auto go_on = [] { return SignalWatch::caught() == 0; };
  const RunOptions options = options_for(run, o);
  const Scratch scratch;
  const auto source = open_source(options, scratch.path, [&](double) { return go_on(); });
  Evaluation found;
  if (source) {
    const std::shared_ptr<const Dataset> data = source->everything(options);
    const std::uint64_t samples = o.samples ? o.samples : data->size() ? data->size() : 1024;
    found = evaluate(*run.model, *data, samples, o.batch_size, go_on);
  }
  if (!source || found.stopped) return SignalWatch::exit_code();
  const ModelKind kind = run.model->config().model;
  if (o.json)
    std::cout << as_json(found, kind).dump() << '\n';
  else
    print_table(found, kind, std::cout);
  return 0;
}

}  // namespace

void add_eval(Program& program) {
  const auto o = std::make_shared<EvalChoices>();
  Command command = program.command("eval", "loss, perplexity, bits per byte, accuracy of a trained model on data");
  command.positional("run", o->run, "folder of a run");
  command.option("--data PATH,...", o->data, "files, folders, or - (default: what the run was trained on, all of it)");
  command.option("--samples", o->samples, "only so many sequences; 0: all (made-up data: 1024)");
  command.option("--batch-size", o->batch_size, "sequences at once");
  command.option("--truncate", o->truncate, "cut pairs and texts that are longer than the model takes");
  command.option("--weights NAME", o->weights, "best or last (default: the best, where validation data was measured)");
  command.option("--threads", o->threads, "at most so many; 0: what the machine or its container grants");
  command.option("--json", o->json, "one JSON object on stdout");
  command.examples({"addnorm eval runs/book --data other.txt", "addnorm eval runs/reverse --json"});
  command.run([o] { return run_eval(*o); });
}

}  // namespace addnorm::cli
