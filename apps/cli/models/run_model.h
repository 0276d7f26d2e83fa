// What commands that take a trained model share: its weights, threads, a temporary folder, and what is said of them.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "addnorm/train/run_model.h"

namespace addnorm::cli {

/// What --threads asks for; 0: what OMP_NUM_THREADS says, or else the machine or its container grants.
int threads_for(int asked);
/// From now on so many work. Their number.
int use_threads(int asked);
/// For --help.
inline constexpr const char* kThreadsByDefault =
    "0: OMP_NUM_THREADS, or where that is not set what the machine or its container grants";

/// The library's load_run by the value of --weights: "best", "last", or "" for the best where there is one. `notes` hears which,
/// and what was noted of a checkpoint of others.
RunModel load_run(const std::filesystem::path& run, const std::string& weights, std::ostream& notes,
                  TextNeeds needs = TextNeeds::text);

/// If the standard input is a terminal: a note that `--data -` waits for text to be typed.
void note_if_waiting(std::ostream& notes);

/// A temporary folder for what a command needs only while it runs, removed by the destructor. Its user creates it.
struct Scratch {
  explicit Scratch(const std::string& command);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path path;
};

}  // namespace addnorm::cli
