#include "cli/models/answers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <sstream>
#include <utility>

#include "addnorm/core/error.h"
#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/language_model.h"
#include "cli/terminal/figures.h"
#include "core/json/json.h"
#include "core/printable.h"

namespace addnorm::cli {

TextStart text_start(const Tokenizer& tokenizer) {
  constexpr const char* kAfterBegin = "it begins after the token that begins a text";
  if (const TextFrame frame = tokenizer.frame(); !frame.before.empty()) return {frame.before.back(), kAfterBegin};
  try {
    if (const auto line = tokenizer.encode("\n"); line.size() == 1) return {line.front(), "it begins at the start of a line"};
  } catch (const DataError&) {  // an alphabet without line ends
  }
  if (const auto begin = tokenizer.special().begin) return {*begin, kAfterBegin};
  const std::int32_t first = 0;
  return {first,
          concat("it goes on from '", printable(tokenizer.decode(std::span(&first, 1))), "', the first token of its vocabulary")};
}

std::vector<std::int32_t> end_tokens(const RunModel& run) {
  if (!run.ends.empty()) return run.ends;
  const SpecialTokens special = run.tokenizer->special();
  const auto end = special.end ? special.end : special.begin;  // where another text begins, this one is over
  return end ? std::vector{*end} : std::vector<std::int32_t>{};
}

namespace {

class WithinVocabulary final : public Decoding {
 public:
  WithinVocabulary(std::unique_ptr<Decoding> inner, std::size_t vocabulary) : inner_(std::move(inner)), vocabulary_(vocabulary) {}
  Tensor append(std::span<const std::int32_t> tokens) override {
    Tensor logits = inner_->append(tokens);
    const std::size_t width = logits.shape()[1];
    for (std::size_t row = 0; row < logits.shape()[0]; ++row)
      for (std::size_t id = vocabulary_; id < width; ++id)
        logits.values<float>()[row * width + id] = -std::numeric_limits<float>::infinity();
    return logits;
  }
  void select(std::span<const std::size_t> from) override { inner_->select(from); }
  std::size_t rows() const override { return inner_->rows(); }
  std::size_t room() const override { return inner_->room(); }

 private:
  std::unique_ptr<Decoding> inner_;
  std::size_t vocabulary_;
};

}  // namespace

std::unique_ptr<Decoding> within_tokenizer(std::unique_ptr<Decoding> decoding, const Tokenizer& tokenizer) {
  return std::make_unique<WithinVocabulary>(std::move(decoding), tokenizer.vocabulary());
}

std::size_t longest_source(const RunModel& run) {
  return run.model->config().seq_len - (run.answers ? 1 : 0);  // the begin token follows it
}

Question question(const RunModel& run, std::vector<std::int32_t> source) {
  const SpecialTokens special = run.tokenizer->special();
  if (!special.begin || !special.end)
    throw DataError(concat((run.folder / "tokenizer.json").string(), ": has no begin and end tokens, which answers need"));
  const std::size_t seq_len = run.model->config().seq_len;
  if (const auto* pairs = dynamic_cast<const EncoderDecoder*>(run.model.get()))
    return {within_tokenizer(pairs->decoding({.ids = source, .batch = 1}), *run.tokenizer), {*special.begin}, seq_len};
  source.push_back(*special.begin);
  const std::size_t room = seq_len - source.size() + 1;
  const auto& lm = dynamic_cast<const LanguageModel&>(*run.model);
  return {within_tokenizer(lm.decoding(1), *run.tokenizer), std::move(source), room};
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
