// The options of `train` on the command line: one list for all of them, from the library.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/train/run_options.h"
#include "cli/terminal/command.h"

namespace addnorm {
class Json;
}

namespace addnorm::cli {

/// "batch_size" -> "--batch-size".
std::string option_name(std::string name);
/// What messages of the library call a field here, its FieldWords everywhere in the tool: the option that sets it; by its own
/// name a field that only files can set, such as d_head.
std::string option_word(std::string field);

/// Options of the command itself that a file may hold too.
struct RunPlace {
  std::filesystem::path out{}, cache{};
  std::string name{};
  std::optional<int> threads{};
  /// What a config of Hugging Face has that cannot be said here, or is the data's; what of the file the command line replaces.
  std::vector<std::string> notes{};
  std::string renamed{};  ///< what renamed_init() says of the command line's --init
};

/// Its notes, and those of how the weights of the model start, on the standard error.
void print_notes(const RunPlace& place, const std::filesystem::path& file, const ModelConfig& model);

/// How the weights of a model start, in a few words, the same before a training and in a verdict: "gpt2 weights, W_o and W_2
/// times 0.5, embeddings 0.02"; "xavier normal weights, embeddings 0.0625, and what the formula of deepnorm contains". `model` is
/// completed.
std::string start_words(const ModelConfig& model);

/// "--init normal is bert"; "" where the name is the canonical one, or none.
std::string renamed_init(const std::string& given);

/// Of options of a file with those of the command line, `said`, over them: takes the file's init_std off where the command line
/// asks for a start whose deviations follow from widths. A note of it; "": nothing was taken off.
std::string leave_out_deviation(Json& options, const Json& said);

/// Where tokenised text is kept for all runs: the user's cache folder; empty where there is none to write to.
std::filesystem::path default_cache();

/// What was given, as the JSON object that files hold too. Shared with the parser's callbacks.
class OptionCollector {
 public:
  OptionCollector();
  ~OptionCollector();
  /// Adds every option of the library to the command.
  void declare(Command& command);
  /// Those of the file (none: an empty path) and, over them, those of the command line; the file is one of options, or the
  /// run.json of another run. `place` gets what the file says and the command line did not.
  GivenOptions given(const std::filesystem::path& file, RunPlace& place) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace addnorm::cli
