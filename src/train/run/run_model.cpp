#include "addnorm/train/run_model.h"

#include <algorithm>

#include "addnorm/train/run_folder.h"
#include "addnorm/train/weights.h"
#include "core/file.h"
#include "core/json/json.h"
#include "core/system/files.h"

namespace addnorm {

namespace fs = std::filesystem;

namespace {

/// A tokenizer of others beside their weights; empty: none that is read.
fs::path tokenizer_beside(const fs::path& folder, const fs::path& weights) {
  for (const char* name : {"tokenizer.json", "vocab.json", "tokenizer.bin"})
    if (is_there(folder / name)) return folder / name;
  if (weights.extension() != ".bin") return {};
  fs::path found;
  for (const fs::path& entry :
       system_files::entries(folder).value_or(std::vector<fs::path>{}))  // llama2.c: tok512.bin of stories260K.bin
    if (entry.extension() == ".bin" && entry.filename() != weights.filename()) {
      if (!found.empty())
        throw DataError(concat(folder.string(), ": ", found.filename().string(), " and ", entry.filename().string(),
                               " may both be the tokenizer; call it tokenizer.bin"));
      found = folder / entry.filename();
    }
  return found;
}

void take_tokenizer(RunModel& run, const fs::path& path) {
  if (path.empty()) return;
  run.tokenizer = read_tokenizer(path);
  run.tokenizer_path = path;
  const ModelConfig& config = run.model->config();
  const std::size_t vocab = config.model == ModelKind::seq2seq ? std::min(config.vocab, config.target_vocab) : config.vocab;
  if (config.model != ModelKind::mlp && run.tokenizer->vocabulary() > vocab)
    throw DataError(concat(path.string(), ": has ids up to ", run.tokenizer->vocabulary() - 1, ", the model's vocabulary is ",
                           vocab, "; do they belong together?"));
}

/// The name of a tokenizer that is there in a form that is not read; empty: none.
std::string unread_tokenizer(const fs::path& folder) {
  for (const char* other : {"vocab.txt", "tokenizer.model", "spiece.model", "source_vocabulary.txt"})
    if (is_there(folder / other)) return other;
  return "";
}

/// Which files would be read, and what to do with those of other forms that are there.
[[noreturn]] void fail_without_tokenizer(const fs::path& folder) {
  const std::string other = unread_tokenizer(folder);
  std::string hint;
  if (other == "source_vocabulary.txt")
    hint = concat("; ", other, " is not read: nothing in it says how text is cut");
  else if (!other.empty())
    hint = concat("; ", other, " is not read. transformers makes tokenizer.json of it: AutoTokenizer.from_pretrained('",
                  folder.string(), "').save_pretrained('", folder.string(), "'), with a fast tokenizer");
  throw DataError(concat(folder.string(),
                         " has no tokenizer that is read (tokenizer.json; vocab.json with merges.txt; tokenizer.bin ",
                         "of llama2.c), so nothing says how text becomes the model's tokens", hint));
}

RunModel imported_run(const fs::path& path, TextNeeds needs) {
  ImportedModel imported = import_model(path);
  RunModel found;
  const fs::path weights = imported.weights;
  found.folder = weights.has_parent_path() ? weights.parent_path() : fs::path(".");
  found.model = std::move(imported.model);
  found.extra = "{}";
  found.family = std::move(imported.family);
  found.sentence = imported.sentence;
  found.ends = imported.end_tokens;
  const fs::path tokenizer = tokenizer_beside(found.folder, weights);
  const bool ids_will_do = needs == TextNeeds::text_or_ids && found.model->config().model == ModelKind::lm;
  if (tokenizer.empty() && !(ids_will_do && unread_tokenizer(found.folder).empty())) fail_without_tokenizer(found.folder);
  take_tokenizer(found, tokenizer);
  found.notes = std::move(imported.notes);
  return found;
}

}  // namespace

RunModel load_run(const fs::path& run, RunWeights weights, TextNeeds needs, const FieldWords& words) {
  const RunFolder folder{run};
  const auto fail = [&run](const std::string& what) { throw DataError(run.string() + what); };
  if (!is_there(run))
    fail(
        " is not there; name the folder of a run, such as runs/NAME, or of a model. Nothing is downloaded: a model of a hub is "
        "named by its folder on this machine");
  const bool has_best = is_there(folder.best() / "model.safetensors");
  if (weights == RunWeights::best && !has_best)
    fail(concat(" has no best weights: nothing was measured on validation data. Leave ", called(words, "weights"), " out"));
  if (!has_best && !is_there(folder.record()) && is_import(run)) return imported_run(run, needs);
  if (!is_folder(run))
    fail(" is neither a folder nor a file; name the folder of a run or of a model, its model.safetensors, or a llama2.c .bin");
  RunModel found;
  const bool best = has_best && weights != RunWeights::last;
  if (has_best) found.weights = best ? RunWeights::best : RunWeights::last;
  found.folder = best ? folder.best() : run;
  if (!is_there(found.folder / "model.safetensors")) fail(" has no model.safetensors; is it the folder of a run that was saved?");
  found.model = load_model(found.folder);
  found.extra = config_file_extra(found.folder / "config.json");
  const Json extra = parsed(found.extra, (found.folder / "config.json").string() + ": extra");
  found.answers = extra.contains("pairs") && extra["pairs"] == true;
  if (is_there(found.folder / "tokenizer.json")) take_tokenizer(found, found.folder / "tokenizer.json");
  return found;
}

void throw_no_tokenizer(const std::string& run) {
  throw DataError(run + " has no tokenizer.json that says how text becomes the model's tokens; put it beside model.safetensors");
}

void require_mask(const RunModel& model, const std::string& run) {
  if (!model.tokenizer->special().mask)
    throw DataError(run + " predicts masked tokens, but its tokenizer has no mask token: nothing can be hidden");
}

}  // namespace addnorm
