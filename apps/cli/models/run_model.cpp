#include "cli/models/run_model.h"

#include <unistd.h>

#include <cstdlib>
#include <ostream>
#include <system_error>

#include "addnorm/core/error.h"
#include "addnorm/core/machine.h"
#include "addnorm/core/parallel.h"
#include "cli/train/options.h"

namespace addnorm::cli {

int threads_for(int asked) {
  require(asked >= 0 && asked <= kMaxThreads, "--threads is ", asked, "; it must be 0 (what the machine grants) ... ",
          kMaxThreads);
  const bool given = std::getenv("OMP_NUM_THREADS") != nullptr;
  return asked > 0 ? asked : given ? threads() : granted_threads();
}

int use_threads(int asked) {
  set_threads(threads_for(asked));
  return threads();
}

RunModel load_run(const std::filesystem::path& run, const std::string& weights, std::ostream& notes, TextNeeds needs) {
  require(weights.empty() || weights == "best" || weights == "last", "--weights is '", weights, "'; it must be best or last");
  const RunWeights asked = weights.empty() ? RunWeights::best_if_there : weights == "best" ? RunWeights::best : RunWeights::last;
  RunModel found = addnorm::load_run(run, asked, needs, option_word);
  for (const std::string& note : found.notes) notes << "note: " << note << '\n';
  if (found.weights)
    notes << (*found.weights == RunWeights::last
                  ? "the last weights; --weights best takes those with the lowest validation loss\n"
                  : "the weights with the lowest validation loss; --weights last takes the last\n");
  return found;
}

void note_if_waiting(std::ostream& notes) {
  if (isatty(STDIN_FILENO) != 0)
    notes << "reading text from the terminal; Ctrl-D at the beginning of a line ends it\n" << std::flush;
}

Scratch::Scratch(const std::string& command)
    : path(std::filesystem::temp_directory_path() / concat("addnorm-", command, "-", getpid())) {}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace addnorm::cli
