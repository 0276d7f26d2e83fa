#include "run_model.h"

#include <unistd.h>

#include <cstdlib>
#include <ostream>

#include "addnorm/core/machine.h"
#include "addnorm/core/parallel.h"
#include "addnorm/train/run_folder.h"
#include "addnorm/train/weights.h"
#include "core/json.h"

namespace addnorm::cli {

namespace fs = std::filesystem;

int threads_for(int asked) {
  require(asked >= 0 && asked <= kMaxThreads, "--threads is ", asked, "; it must be 0 (what the machine grants) ... ",
          kMaxThreads);
  const bool told = std::getenv("OMP_NUM_THREADS") != nullptr;
  return asked > 0 ? asked : told ? threads() : granted_threads();
}

int use_threads(int asked) {
  set_threads(threads_for(asked));
  return threads();
}

RunModel load_run(const fs::path& run, const std::string& weights, std::ostream& notes) {
  const RunFolder folder{run};
  require(weights.empty() || weights == "best" || weights == "last", "--weights is '", weights, "'; it must be best or last");
  const auto fail = [&run](const char* what) { throw DataError(run.string() + what); };
  if (!fs::is_directory(run)) fail(" is no folder; name that of a run, such as runs/NAME");
  const bool has_best = fs::exists(folder.best() / "model.safetensors");
  if (weights == "best" && !has_best) fail(" has no best weights: nothing was measured on validation data. Leave --weights out");
  RunModel found;
  found.folder = has_best && weights != "last" ? folder.best() : run;
  if (!fs::exists(found.folder / "model.safetensors"))
    fail(" has no model.safetensors; is it the folder of a run that was saved?");
  found.model = load_model(found.folder);
  found.extra = config_file_extra(found.folder / "config.json");
  const Json extra = parsed(found.extra, (found.folder / "config.json").string() + ": extra");
  found.answers = extra.contains("pairs") && extra["pairs"] == true;
  if (fs::exists(found.folder / "tokenizer.json")) found.tokenizer = read_tokenizer(found.folder / "tokenizer.json");
  if (has_best)
    notes << (found.folder == run ? "the last weights; --weights best takes those with the lowest validation loss\n"
                                  : "the weights with the lowest validation loss; --weights last takes the last\n");
  return found;
}

void tell_if_waiting(std::ostream& notes) {
  if (isatty(STDIN_FILENO) != 0)
    notes << "reading text from the terminal; Ctrl-D at the beginning of a line ends it\n" << std::flush;
}

}  // namespace addnorm::cli
