// A trained model with what belongs to it: the folder of a run, or any folder with model.safetensors and config.json.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>

#include "addnorm/data/tokenizer.h"
#include "addnorm/model/model.h"

namespace addnorm::cli {

struct RunModel {
  std::filesystem::path folder;  ///< where the weights are
  std::unique_ptr<Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;  ///< null: no text
  std::string extra;                           ///< JSON of what the data brought along
  bool answers = false;                        ///< a language model of pairs: source, begin token, target, end token
};

/// What --threads asks for; 0: what OMP_NUM_THREADS says, or else the machine or its container grants.
int threads_for(int asked);
/// From now on so many work. Their number.
int use_threads(int asked);
/// For --help.
inline constexpr const char* kThreadsByDefault =
    "0: OMP_NUM_THREADS, or where that is not set what the machine or its container grants";

/// weights: "best" (lowest validation loss), "last", or "" for the best where there is one. `notes` hears which.
RunModel load_run(const std::filesystem::path& run, const std::string& weights, std::ostream& notes);

/// Whoever sits before a terminal is told that `--data -` waits for them to type.
void tell_if_waiting(std::ostream& notes);

}  // namespace addnorm::cli
