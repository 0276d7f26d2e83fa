// The data of a run: opened as the options say, as datasets for the kind of model.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/data/dataset.h"
#include "addnorm/data/tokenizer.h"
#include "addnorm/train/run_folder.h"
#include "addnorm/train/run_options.h"

namespace addnorm {

/// Datasets and what a model needs to know of them.
struct RunData {
  std::shared_ptr<const Dataset> train{};
  std::shared_ptr<const Dataset> validation{};  ///< null: none
  /// Of the loss, the same whatever the run: computed, or counted. The bigram of masked text is that of a token given the one
  /// before it, with which a masked model can do better.
  std::optional<Baselines> baselines{};
  std::string summary{};  ///< for a person: "book.txt, 1.1 MiB: 1,003,854 tokens to learn from, ..."
  std::string tokens{};   ///< and why text is cut as it is: "characters: ... 65 different ones"; "": no text
  bool pairs = false;     ///< a whole answer can be right or wrong: Evaluation::exact_match means something
};

/// Opened data, before the sizes are known that depend on it.
class RunSource {
 public:
  virtual ~RunSource() = default;
  virtual DataFacts facts() const = 0;
  /// Vocabularies, classes and features, as the data has them.
  virtual void fill(ModelConfig& config) const = 0;
  virtual RunData datasets(const RunOptions& options) const = 0;
  /// All samples once, in their order: for evaluation. The seed is that of the options where something is masked.
  virtual std::shared_ptr<const Dataset> everything(const RunOptions& options) const = 0;
  /// Says whether a resumed run sees what it saw: a function of every byte.
  virtual std::uint64_t fingerprint() const = 0;
  /// Of memory that the data takes, besides mapped files.
  virtual std::uint64_t held_bytes() const { return 0; }
  /// How text becomes ids, for generation and evaluation; null: no text.
  virtual std::shared_ptr<const Tokenizer> tokenizer() const { return nullptr; }
  /// What else belongs to a trained model, as JSON: {"classes": [...]} of labelled text, {"table": {...}} with the scaling of
  /// features, {"pairs": true} where a language model answers what stands before the begin token; "{}".
  virtual std::string extra() const { return "{}"; }
};

/// What the options name, for the kind of model they name. `cache` is the folder of tokenised text. `go_on` hears the share that
/// is done of long work; when it says no, null is returned. DataError and UsageError name file and option.
/// "-" as data is read from options.input.
std::unique_ptr<RunSource> open_source(const RunOptions& options, const std::filesystem::path& cache,
                                       const std::function<bool(double share)>& go_on = {});

/// A file that is removed with its owner.
struct KeptFile {
  KeptFile() = default;
  ~KeptFile();
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;
  std::filesystem::path path{};
};
/// All of the standard input, in a file in `folder`, which is made. Null: `go_on` said no. Nothing to read is a DataError.
std::unique_ptr<KeptFile> kept_standard_input(const std::filesystem::path& folder,
                                              const std::function<bool(double share)>& go_on = {});

/// The data of the run in the folder, as it can be opened here and now: where it was when the run began, or as it was given where
/// that is gone (all may have been moved together), or RunFolder::input(). A DataError names what is missing.
std::vector<std::string> data_of_run(const RunFolder& folder, const FieldWords& words = nullptr);

}  // namespace addnorm
