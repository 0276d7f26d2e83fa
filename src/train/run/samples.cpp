// Data of a run that comes sample by sample: pairs, labelled text, tables, tasks, mixtures.
#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/core/rng.h"
#include "addnorm/data/mixture.h"
#include "addnorm/data/sample_files.h"
#include "addnorm/data/tasks.h"
#include "core/figures.h"
#include "core/json/record.h"
#include "data/samples/sample_view.h"
#include "train/run/sources.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

struct DataFile {
  fs::path path;
  std::string name;  // for people
};

DataFile only_file(const RunOptions& o) {
  require(o.data.size() == 1, called(o.words, "data"), ": ", with_article(o.model.model), " takes one file, not ", o.data.size());
  return o.data[0] == "-" ? DataFile{o.input, "the standard input"} : DataFile{o.data[0], o.data[0]};
}

FileOptions file_options(const RunOptions& o) {
  return {.seq_len = o.model.seq_len, .truncate = o.truncate, .validation_share = o.validation, .seed = o.seed, .words = o.words};
}

std::string summary_of(const std::string& name, const SampleFile& file, const FieldWords& words) {
  const std::uint64_t measured = file.validation ? file.validation->size() : 0;
  std::string text = concat(name, ": ", counted(file.samples - measured, "sample"), " to learn from, ",
                            counted(measured, "sample"), " to measure");
  if (file.empty_lines > 0) text += concat(", ", counted(file.empty_lines, "empty line"), " left out");
  if (file.truncated > 0) text += concat(", ", file.truncated, " cut to ", called(words, "seq_len"));
  return text;
}

RunData as_data(const std::string& name, const SampleFile& file, const RunOptions& o, const std::string& tokens = "") {
  return {.train = file.training,
          .validation = file.validation,
          .baselines = label_baselines(*file.training),
          .summary = summary_of(name, file, o.words),
          .tokens = tokens};
}

/// What samples of a file have in common: read once, shown as the options say when they are known.
class SampleSource : public RunSource {
 public:
  SampleSource(DataFile file, TokenizerChoice choice)
      : file_(std::move(file)), tokenizer_(std::move(choice.tokenizer)), reason_(std::move(choice.reason)) {}
  DataFacts facts() const override { return {.longest = std::max(seen().longest, seen().longest_target)}; }
  std::uint64_t fingerprint() const override { return seen().checksum; }
  std::uint64_t held_bytes() const override { return seen().held_bytes; }
  std::shared_ptr<const Tokenizer> tokenizer() const override { return tokenizer_; }
  RunData datasets(const RunOptions& o) const override { return as_data(file_.name, shown(seen(), file_options(o)), o, reason_); }
  std::shared_ptr<const Dataset> everything(const RunOptions& o) const override { return shown(seen(), file_options(o)).all; }

 protected:
  virtual const SampleFile& seen() const = 0;

 private:
  DataFile file_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::string reason_;
};

/// Lines `source<TAB>target`.
class PairSource final : public SampleSource {
 public:
  PairSource(DataFile file, TokenizerChoice choice, SampleFile seen)
      : SampleSource(std::move(file), std::move(choice)), seen_(std::move(seen)) {}
  void fill(ModelConfig& config) const override { config.vocab = tokenizer()->vocabulary(); }
  RunData datasets(const RunOptions& o) const override {
    RunData data = SampleSource::datasets(o);
    data.pairs = true;
    return data;
  }

 private:
  const SampleFile& seen() const override { return seen_; }
  SampleFile seen_;
};

/// Lines `label<TAB>text`.
class LabelledSource final : public SampleSource {
 public:
  LabelledSource(DataFile file, TokenizerChoice choice, LabelledFile seen)
      : SampleSource(std::move(file), std::move(choice)), seen_(std::move(seen)) {}
  void fill(ModelConfig& config) const override {
    config.vocab = tokenizer()->vocabulary();
    config.classes = seen_.classes.size();
  }
  std::string extra() const override { return Json{{"classes", seen_.classes}}.dump(); }

 private:
  const SampleFile& seen() const override { return seen_; }
  LabelledFile seen_;
};

/// Numbers with a label.
class TableSource final : public RunSource {
 public:
  TableSource(DataFile file, TableFile table) : file_(std::move(file)), table_(std::move(table)) {}
  DataFacts facts() const override { return {}; }
  void fill(ModelConfig& config) const override {
    config.features = table_.record.mean.size();
    config.classes = table_.record.classes.size();
  }
  std::uint64_t fingerprint() const override { return table_.checksum; }
  std::uint64_t held_bytes() const override { return table_.held_bytes; }
  std::string extra() const override {
    TableRecord record = table_.record;
    JsonWriter writer;
    fields(writer, record);
    return Json{{"table", writer.object}}.dump();
  }
  RunData datasets(const RunOptions& o) const override { return as_data(file_.name, table_, o); }
  std::shared_ptr<const Dataset> everything(const RunOptions&) const override { return table_.all; }

 private:
  DataFile file_;
  TableFile table_;
};

/// Of a task's own questions, whichever are learned from; who knows the answer has no loss.
Baselines task_baselines(const Task& task, PairForm form) {
  constexpr std::uint64_t kCountedSeed = 0, kCounted = 4096;  // some 20,000 labels: to a hundredth of a nat
  Baselines baselines = label_baselines(*task.dataset(kCountedSeed, form), kCounted);
  baselines.floor = 0;
  return baselines;
}

/// Questions with one right answer, for pairs and for language models.
class TaskSource final : public RunSource {
 public:
  TaskSource(TaskKind kind, PairForm form) : task_(kind), form_(form), baselines_(task_baselines(task_, form)) {}
  DataFacts facts() const override {
    const std::size_t source = task_.longest_source(), target = task_.longest_target() + 1;
    return {.longest = form_ == PairForm::lm ? source + target : std::max(source, target)};
  }
  void fill(ModelConfig& config) const override { config.vocab = task_.tokenizer()->vocabulary(); }
  std::uint64_t fingerprint() const override {
    return RandomKey(0).with(task_names()[static_cast<std::size_t>(task_.kind())]).bits();
  }
  std::shared_ptr<const Tokenizer> tokenizer() const override { return task_.tokenizer(); }
  std::string extra() const override { return form_ == PairForm::lm ? R"({"pairs": true})" : "{}"; }
  RunData datasets(const RunOptions& o) const override {
    const std::string& name = task_names()[static_cast<std::size_t>(task_.kind())];
    require(o.model.seq_len >= facts().longest, called(o.words, "seq_len"), " is ", o.model.seq_len, "; the task ", name,
            " needs ", facts().longest);
    const TaskPair one = task_.pair(o.seed, 0);
    return {.train = task_.dataset(o.seed, form_),
            .validation = task_.dataset(validation_seed(o.seed), form_),
            .baselines = baselines_,
            .summary = concat("made-up pairs, ", name, ", endless: ", one.source, " -> ", one.target),
            .pairs = true};
  }
  std::shared_ptr<const Dataset> everything(const RunOptions& o) const override { return datasets(o).validation; }

 private:
  Task task_;
  PairForm form_;
  Baselines baselines_;
};

/// Points around centres.
class MixtureSource final : public RunSource {
 public:
  explicit MixtureSource(std::uint64_t seed) : options_{.seed = seed}, mixture_(options_), best_(mixture_.best()) {}
  DataFacts facts() const override { return {}; }
  void fill(ModelConfig& config) const override {
    config.features = options_.dimension;
    config.classes = options_.classes;
  }
  std::uint64_t fingerprint() const override { return RandomKey(options_.seed).with("mixture").bits(); }
  RunData datasets(const RunOptions& o) const override {
    const double uniform = std::log(static_cast<double>(options_.classes));
    return {.train = mixture_.dataset(o.seed),
            .validation = mixture_.dataset(validation_seed(o.seed)),
            .baselines = Baselines{.floor = best_.loss, .uniform = uniform, .unigram = uniform, .bigram = std::nan("")},
            .summary = concat("a mixture of ", options_.classes, " Gaussians in ", options_.dimension,
                              " dimensions, endless; no predictor is right in more than ", 100 * best_.accuracy, " %")};
  }
  std::shared_ptr<const Dataset> everything(const RunOptions& o) const override { return datasets(o).validation; }

 private:
  MixtureOptions options_;
  Mixture mixture_;
  Mixture::Best best_;
};

/// What training noted beside the weights, where the run is only measured.
template <class T>
bool noted(const RunOptions& o, const char* name, T& value) {
  if (o.extra.empty()) return false;
  const Json extra = parsed(o.extra, "config.json: extra");
  if (!extra.is_object() || !extra.contains(name)) return false;
  read(extra.at(name), value, JsonAt{"config.json: extra", name});
  return true;
}

std::unique_ptr<RunSource> open_made_up(const RunOptions& o) {
  const ModelKind kind = o.model.model;
  const std::string& task = o.task;
  const auto field = [&](const char* name) { return called(o.words, name); };
  if (kind == ModelKind::mlp) {
    require(task.empty() || task == "mixture", field("task"), " is '", task, "'; an mlp has mixture, or ", field("data"),
            " with a table of numbers");
    return std::make_unique<MixtureSource>(o.seed);
  }
  require(
      kind != ModelKind::classifier,
      with_fields_called("a classifier needs {data} FILE with lines label<TAB>text; numbers (CSV) go with {model} mlp", o.words));
  require(kind == ModelKind::seq2seq || kind == ModelKind::lm, field("task"), " is '", task, "'; an encoder has language, or ",
          field("data"), " with text");
  require(task != "language", field("task"), " language is text; pairs are ", listed(task_names()));
  return std::make_unique<TaskSource>(task.empty() ? TaskKind::number_words : task_kind(task),
                                      kind == ModelKind::lm ? PairForm::lm : PairForm::seq2seq);
}

}  // namespace

bool answers_pairs(const RunOptions& o) {
  bool pairs = false;
  return noted(o, "pairs", pairs) && pairs;
}

std::unique_ptr<RunSource> open_samples(const RunOptions& o, const Progress& progress) {
  if (o.data.empty()) return open_made_up(o);
  const DataFile file = only_file(o);
  const ModelKind kind = o.model.model;
  if (kind == ModelKind::mlp) {
    TableRecord record;
    const bool known = noted(o, "table", record);
    TableFile table =
        read_table(file.path, {.label = o.label, .validation_share = o.validation, .seed = o.seed, .words = o.words},
                   known ? &record : nullptr, progress);
    return table.training ? std::make_unique<TableSource>(file, std::move(table)) : nullptr;
  }
  require(kind != ModelKind::classifier || file.path.extension() != ".csv", file.name,
          ": a classifier reads lines label<TAB>text; numbers (CSV) go with ", called(o.words, "model"), " mlp");
  const bool pairs = kind != ModelKind::classifier;
  TokenizerChoice choice = chosen_tokenizer(o, sources_of(o), {.begin_end = pairs}, progress);
  if (!choice.tokenizer) return nullptr;
  const SpecialTokens special = choice.tokenizer->special();
  require(!pairs || (special.begin && special.end), called(o.words, "tokenizer"), " ", o.tokenizer,
          " has no begin and end tokens, which pairs need");
  const PairForm form = kind == ModelKind::lm ? PairForm::lm : PairForm::seq2seq;
  if (pairs) {
    SampleFile seen = read_pairs(file.path, *choice.tokenizer, form, {}, progress);
    return seen.training ? std::make_unique<PairSource>(file, std::move(choice), std::move(seen)) : nullptr;
  }
  std::vector<std::string> classes;
  noted(o, "classes", classes);
  LabelledFile seen = read_labelled(file.path, *choice.tokenizer, {}, classes, progress);
  return seen.training ? std::make_unique<LabelledSource>(file, std::move(choice), std::move(seen)) : nullptr;
}

}  // namespace addnorm
