#include "run_model.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>

#include "addnorm/core/machine.h"
#include "addnorm/core/parallel.h"
#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/generate.h"
#include "addnorm/model/language_model.h"
#include "addnorm/train/run_folder.h"
#include "addnorm/train/weights.h"
#include "core/json.h"
#include "figures.h"

namespace addnorm::cli {

namespace fs = std::filesystem;

int use_threads(int asked) {
  require(asked >= 0 && asked <= kMaxThreads, "--threads is ", asked, "; it must be 0 (what the machine grants) ... ",
          kMaxThreads);
  const int threads = asked > 0 ? asked : granted_threads();
  set_threads(threads);
  return threads;
}

RunModel load_run(const fs::path& run, const std::string& weights, std::ostream& notes) {
  const RunFolder folder{run};
  require(weights.empty() || weights == "best" || weights == "last", "--weights is '", weights, "'; it must be best or last");
  const auto fail = [&run](const char* what) { throw DataError(run.string() + what); };
  if (!fs::is_directory(run)) fail(" is no folder; name that of a run, such as runs/NAME");
  const bool has_best = fs::exists(folder.best() / "model.safetensors");
  if (weights == "best" && !has_best) fail(" has no best weights: nothing was measured on validation data. Leave --weights out");
  RunModel found;
  found.folder = has_best && weights != "last" ? folder.best() : run;
  if (!fs::exists(found.folder / "model.safetensors"))
    fail(" has no model.safetensors; is it the folder of a run that was saved?");
  found.model = load_model(found.folder);
  found.extra = config_file_extra(found.folder / "config.json");
  const Json extra = parsed(found.extra, (found.folder / "config.json").string() + ": extra");
  found.answers = extra.contains("pairs") && extra["pairs"] == true;
  if (fs::exists(found.folder / "tokenizer.json")) found.tokenizer = read_tokenizer(found.folder / "tokenizer.json");
  if (has_best)
    notes << (found.folder == run ? "the last weights; --weights best takes those with the lowest validation loss\n"
                                  : "the weights with the lowest validation loss; --weights last takes the last\n");
  return found;
}

void tell_if_waiting(std::ostream& notes) {
  if (isatty(STDIN_FILENO) != 0)
    notes << "reading text from the terminal; Ctrl-D at the beginning of a line ends it\n" << std::flush;
}

namespace {

constexpr std::size_t kPairsShown = 4;

struct PairIds {
  std::vector<std::int32_t> source, target;
};

/// Sample `row` of a batch of pairs, in either form (data/sample_files.h).
PairIds pair_of(const Batch& batch, std::size_t row) {
  const std::size_t width = batch.ids.size() / batch.sequences, labels = batch.labels.size() / batch.sequences;
  const auto ids = batch.ids.begin() + static_cast<std::ptrdiff_t>(row * width);
  PairIds pair;
  std::size_t before = 0;  // labels that do not count, before those that do
  for (std::size_t i = row * labels; i < (row + 1) * labels; ++i) {
    if (batch.labels[i] != kIgnoredLabel) pair.target.push_back(batch.labels[i]);
    before += pair.target.empty();
  }
  const bool apart = !batch.target_ids.empty();
  const std::size_t length = !apart ? before : batch.lengths.empty() ? width : batch.lengths[row];
  pair.source.assign(ids, ids + static_cast<std::ptrdiff_t>(length));
  return pair;
}

/// The most probable answer, token by token.
std::string answer(const RunModel& run, const std::vector<std::int32_t>& source) {
  const SpecialTokens special = run.tokenizer->special();
  const std::size_t most = run.model->config().seq_len;
  GenerateOptions options{.sampling = {.temperature = 0}, .max_tokens = most, .end_tokens = {special.end.value()}};
  std::vector<std::int32_t> prompt;
  std::unique_ptr<Decoding> decoding;
  if (const auto* pairs = dynamic_cast<const EncoderDecoder*>(run.model.get())) {
    decoding = pairs->decoding({.ids = source, .batch = 1});
  } else {
    prompt = source;
    options.max_tokens = most - std::min(most - 1, source.size());
    decoding = dynamic_cast<const LanguageModel&>(*run.model).decoding(1);
  }
  prompt.push_back(special.begin.value());
  return run.tokenizer->decode(generate(*decoding, prompt, options).at(0).tokens);
}

void show_answers(const RunModel& found, const RunData& data, std::ostream& out) {
  const Dataset& pairs = data.validation ? *data.validation : *data.train;
  const std::uint64_t all = pairs.size();
  const std::size_t count = all ? static_cast<std::size_t>(std::min<std::uint64_t>(all, kPairsShown)) : kPairsShown;
  const Batch batch = pairs.batch(0, count);
  for (std::size_t row = 0; row < count; ++row) {
    const PairIds pair = pair_of(batch, row);
    const std::string said = answer(found, pair.source), right = found.tokenizer->decode(pair.target);
    out << found.tokenizer->decode(pair.source) << " -> " << said << (said == right ? "  (right)" : "  (not " + right + ")")
        << '\n';
  }
}

}  // namespace

void show_sample(const fs::path& run, const RunData& data, std::ostream& out, std::ostream& notes) {
  std::ostringstream quiet;
  const RunModel found = load_run(run, "", quiet);
  const auto* lm = dynamic_cast<const LanguageModel*>(found.model.get());
  if (found.tokenizer && data.pairs) {
    notes << "\nhow it answers some " << (data.validation ? "validation data" : "of the data it has learned from")
          << " (addnorm generate " << for_shell(run.string()) << " --source TEXT):\n"
          << std::flush;
    return show_answers(found, data, out);
  }
  if (!lm || !found.tokenizer || found.answers) return;
  notes << "\na sample of what it writes now (addnorm generate " << for_shell(run.string()) << "):\n" << std::flush;
  const auto decoding = lm->decoding(1);
  const std::vector<std::int32_t> prompt{text_start(*found.tokenizer).token};
  GenerateOptions options{.sampling = {.temperature = 0.8}, .max_tokens = 200};
  options.max_tokens = std::min<std::size_t>(200, lm->config().seq_len);
  const auto written = generate(*decoding, prompt, options);
  out << found.tokenizer->decode(written.at(0).tokens) << '\n';
}

std::vector<std::pair<std::string, double>> measures(const Evaluation& e, ModelKind kind, bool pairs) {
  const bool classes = kind == ModelKind::classifier || kind == ModelKind::mlp;
  std::vector<std::pair<std::string, double>> all{{"loss", e.loss}};
  if (!classes) all.emplace_back("perplexity", e.perplexity());
  if (std::isfinite(e.bits_per_byte())) all.emplace_back("bits_per_byte", e.bits_per_byte());
  all.emplace_back("accuracy", e.accuracy());
  if (pairs) all.emplace_back("exact_match", e.exact_match());
  return all;
}

std::string summary_json(const fs::path& run, const RunResult& r) {
  Json json{{"folder", run.string()}, {"steps", r.steps}, {"finished", r.finished}};
  if (std::isfinite(r.loss)) json["loss"] = r.loss;
  if (r.validation)
    for (const auto& [name, value] : measures(*r.validation, r.model, r.data.pairs)) json["validation_" + name] = value;
  if (r.best) json["best_validation_loss"] = *r.best;
  if (r.best) json["best_step"] = r.best_step;
  json["seconds"] = r.seconds;
  return json.dump();
}

}  // namespace addnorm::cli
