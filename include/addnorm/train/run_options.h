// RunOptions: everything that says how a model is trained, under the names that the command line, a file and run.json share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "addnorm/model/config.h"
#include "addnorm/train/trainer.h"

namespace addnorm {

/// How much of a run is recorded besides its losses. The trainer only carries these options; layer probe does what they say.
enum class ProbeLevel : unsigned char {
  off,
  on,    ///< norms, ratios, gradients and attention of every unit; at most a tenth of the time at the usual interval
  full,  ///< and what takes extra passes: units by-passed, logit lens, dependency, ranks, ...
};

struct ProbeOptions {
  ProbeLevel level = ProbeLevel::off;
  std::int64_t every = 10;  ///< steps between records
};

/// Zeros and empty texts stand for what planned() says.
struct RunOptions {
  ModelConfig model{};

  // Data.
  std::vector<std::string> data{};  ///< files and folders; "-" is the standard input; none: made up, see task
  std::string task{};               ///< what is made up
  std::string tokenizer = "auto";   ///< auto, bytes, chars, or a file
  std::string label{};            ///< column of a table that holds the class: its name, or its number from 1 on; empty: the last
  double validation = 0.1;        ///< share of the data that is kept from training
  bool truncate = false;          ///< cut sequences that are too long, instead of refusing them
  std::string extra{};            ///< evaluation: what the data of training brought along (RunSource::extra); not in files
  std::filesystem::path input{};  ///< where "-" was kept (kept_standard_input); not in files
  bool framed = false;            ///< evaluation: text with what its tokenizer puts around it (Tokenizer::frame); not in files

  // Updates.
  std::size_t steps = 0;
  std::size_t batch_size = 0;
  std::size_t grad_accum = 1;
  double lr = 1e-3;
  std::optional<double> min_lr{};             ///< nothing: a tenth of lr
  std::optional<std::size_t> warmup_steps{};  ///< nothing: a twentieth of the steps, at most 200
  ScheduleKind schedule = ScheduleKind::cosine;
  OptimizerOptions optimizer{};
  double clip_grad_norm = 1;
  double label_smoothing = 0;
  std::uint64_t seed = 1;
  bool recompute = false;
  OnNan on_nan = OnNan::stop;
  double spike_guard = 0;

  // What is printed and kept.
  std::size_t log_every = 0;
  std::size_t eval_every = 0;
  std::size_t eval_samples = 0;  ///< of the validation data
  std::size_t save_every = 0;
  std::size_t keep = 2;
  ProbeLevel probes = ProbeLevel::off;
  std::size_t probe_every = 10;

  FieldWords words{};  ///< what messages of everything that takes these options call a field; not in files
};

/// "a classifier", "an encoder", "an mlp".
std::string with_article(ModelKind kind);
/// Which of them may be another after a run was resumed: they change no bit of what is learned as long as nothing goes wrong.
/// `steps` is among them, but a schedule that depends on it must be asked for explicitly.
bool may_change(std::string_view name);

/// One option as a command line shows it.
struct OptionText {
  std::string name;  ///< "batch_size": in files; on a command line --batch-size
  enum class Value { flag, yes_no, whole, number, text, texts } value;  ///< yes_no: --bias and --no-bias
  std::string help;
  std::string group{};  ///< heading under which it stands: "Data", "Model", "Updates", "Output"
};
/// Every option, those of the model included, in the order in which a person should read them. `words`: what explanations call
/// other options.
std::vector<OptionText> option_texts(const FieldWords& words = nullptr);

/// What other programs call our options, theirs and ours: {"learning_rate", "lr"}. Files and the command line understand both.
std::vector<std::pair<std::string, std::string>> other_option_names();
/// Our name of an option or a field of the model; a name that is none is given back.
std::string option_named(const std::string& name);
/// Options of other programs that there are not here, and what to do instead: {"epochs", "..."}.
std::vector<std::pair<std::string, std::string>> missing_options(const FieldWords& words = nullptr);

/// Options and who was named: {"layers": 3, "lr": 0.001}, one object for options of the run and of the model alike. A DataError
/// names the place, the option, its value and what is allowed; an unknown one is answered with the nearest. `words` goes into
/// the options.
struct GivenOptions {
  RunOptions options;
  std::set<std::string> given;
};
GivenOptions run_options_from_json(std::string_view text, std::string_view where, const FieldWords& words = nullptr);
/// Into the options of a run, those that may change and are given now.
void take_changes(const GivenOptions& now, RunOptions& options);
/// A UsageError for the first option that was given and changes nothing beside the others: task with data, momentum of adamw.
void require_used(const GivenOptions& given);
/// Those of a run's record (run.json: options) that another run has to be given: neither what its data decides nor what planned()
/// would say anyway. So a longer run has its own warm-up, and one with half the rate ends at half the rate.
std::string options_to_repeat(std::string_view options, std::string_view where, const FieldWords& words = nullptr);
/// Every option with its value, defaults included.
std::string to_json(const RunOptions& options);

/// What planned() knows of the data.
struct DataFacts {
  std::uint64_t tokens = 0;  ///< of the training text; 0: endless, or not text
  std::size_t longest = 0;   ///< sequence of pairs or labelled text; 0: not known
};
/// Sizes and steps that were not given, so that training takes some minutes on a few cores and the model fits the amount of data;
/// then everything is checked. Deterministic: the same data and options give the same plan on any machine.
RunOptions planned(const GivenOptions& given, const DataFacts& facts);

/// A UsageError names the option, its value and what is allowed. Of options that are complete: planned, or those of a run.
void check(const RunOptions& options);

/// The options of the trainer.
TrainerOptions trainer_options(const RunOptions& options);

}  // namespace addnorm
