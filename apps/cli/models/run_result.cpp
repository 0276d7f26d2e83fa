#include "cli/models/run_result.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>

#include "addnorm/model/generate.h"
#include "addnorm/model/language_model.h"
#include "cli/models/run_model.h"
#include "cli/terminal/answers.h"
#include "cli/terminal/figures.h"
#include "core/json/json.h"

namespace addnorm::cli {
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
std::string answer(const RunModel& run, std::vector<std::int32_t> source) {
  const auto [decoding, prompt, room] = question(run, std::move(source));
  const GenerateOptions options{.sampling = {.temperature = 0}, .max_tokens = room, .end_tokens = end_tokens(run)};
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

void show_sample(const std::filesystem::path& run, const RunData& data, std::ostream& out, std::ostream& notes) {
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
  const auto decoding = within_tokenizer(lm->decoding(1), *found.tokenizer);
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

std::string summary_json(const std::filesystem::path& run, const RunResult& r) {
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
