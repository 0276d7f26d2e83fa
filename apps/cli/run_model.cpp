#include "run_model.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "addnorm/core/machine.h"
#include "addnorm/core/parallel.h"
#include "addnorm/model/generate.h"
#include "addnorm/model/language_model.h"
#include "addnorm/train/run_folder.h"
#include "addnorm/train/weights.h"

namespace addnorm::cli {

namespace fs = std::filesystem;

int use_threads(int asked) {
  require(asked >= 0 && asked <= kMaxThreads, "--threads is ", asked, "; it must be 0 (what the machine grants) ... ",
          kMaxThreads);
  const int threads = asked > 0 ? asked : granted_threads();
  set_threads(threads);
  return threads;
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
  found.answers = nlohmann::json::parse(found.extra).value("pairs", false);
  if (fs::exists(found.folder / "tokenizer.json")) found.tokenizer = read_tokenizer(found.folder / "tokenizer.json");
  if (has_best)
    notes << (found.folder == run ? "the last weights; --weights best takes those with the lowest validation loss\n"
                                  : "the weights with the lowest validation loss; --weights last takes the last\n");
  return found;
}

void show_sample(const fs::path& run, std::ostream& out, std::ostream& notes) {
  std::ostringstream quiet;
  const RunModel found = load_run(run, "", quiet);
  const auto* lm = dynamic_cast<const LanguageModel*>(found.model.get());
  if (!lm || !found.tokenizer || found.answers) return;
  notes << "\na sample of what it writes now (addnorm generate " << run.string() << "):\n" << std::flush;
  const auto decoding = lm->decoding(1);
  const std::vector<std::int32_t> prompt{text_start(*found.tokenizer).token};
  GenerateOptions options{.sampling = {.temperature = 0.8}, .max_tokens = 200};
  options.max_tokens = std::min<std::size_t>(200, lm->config().seq_len);
  const auto written = generate(*decoding, prompt, options);
  out << found.tokenizer->decode(written.at(0).tokens) << '\n';
}

std::string summary_json(const fs::path& run, const RunResult& r) {
  nlohmann::ordered_json json{{"folder", run.string()}, {"steps", r.steps}, {"finished", r.finished}, {"loss", r.loss}};
  if (r.validation) json["validation_loss"] = r.validation->loss;
  if (r.best) json["best_validation_loss"] = *r.best;
  return json.dump();
}

}  // namespace addnorm::cli
