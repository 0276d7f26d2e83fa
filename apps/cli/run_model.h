// A trained model with what belongs to it: the folder of a run, or any folder with model.safetensors and config.json.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "addnorm/data/tokenizer.h"
#include "addnorm/model/model.h"
#include "addnorm/train/run.h"

namespace addnorm::cli {

struct RunModel {
  std::filesystem::path folder;  ///< where the weights are
  std::unique_ptr<Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;  ///< null: no text
  std::string extra;                           ///< JSON of what the data brought along
  bool answers = false;                        ///< a language model of pairs: source, begin token, target, end token
};

/// What --threads asks for, 0 what the machine or its container grants; from now on so many work. Their number.
int use_threads(int asked);

/// weights: "best" (lowest validation loss), "last", or "" for the best where there is one. `notes` hears which.
RunModel load_run(const std::filesystem::path& run, const std::string& weights, std::ostream& notes);

/// Whoever sits before a terminal is told that `--data -` waits for them to type.
void tell_if_waiting(std::ostream& notes);

/// Where text begins that nobody has begun: behind the end of a line, else behind the begin token, else behind any.
struct TextStart {
  std::int32_t token;
  std::string told;  ///< "it begins at the start of a line"
};
TextStart text_start(const Tokenizer& tokenizer);
/// Some text of a model just trained, or its answers to some pairs of its data, for a first impression. Models that write
/// nothing: nothing.
void show_sample(const std::filesystem::path& run, const RunData& data, std::ostream& out, std::ostream& notes);

/// The figures of an evaluation that mean something for this kind of model, by their names in JSON, in the order in which a
/// person should read them: loss, perplexity, bits_per_byte, accuracy, exact_match.
std::vector<std::pair<std::string, double>> measures(const Evaluation& evaluation, ModelKind kind, bool pairs);
std::string summary_json(const std::filesystem::path& run, const RunResult& result);

}  // namespace addnorm::cli
