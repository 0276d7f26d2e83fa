#include "addnorm/model/import.h"

#include <algorithm>
#include <array>
#include <span>

#include "addnorm/model/hugging_face.h"
#include "core/file.h"
#include "core/json/json.h"
#include "core/system/files.h"
#include "model/import/side_files.h"
#include "model/import/source.h"
#include "model/import/weights/layout.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using importing::ImportFamily;

constexpr const char* kConfig = "config.json";

std::span<const ImportFamily* const> all_families() {
  using namespace importing;
  static const std::array kAll{&gpt2_family(),  &bert_family(), &roberta_family(), &distilbert_family(), &llama_family(),
                               &olmo2_family(), &opt_family(),  &llama2c_family(), &mingpt_family(),     &open_nmt_family()};
  return kAll;
}

/// Null: weights of that type are not imported.
const ImportFamily* family_of_type(std::string_view model_type) {
  for (const ImportFamily* family : all_families())
    for (const char* type : family->model_types)
      if (model_type == type) return family;
  return nullptr;
}

/// What is imported from where, before any memory is taken for it.
struct ImportPlan {
  const ImportFamily* family = nullptr;
  ModelConfig config{};
  std::shared_ptr<const importing::WeightSource> source{};
  std::vector<std::string> notes{};
  std::optional<SentenceOptions> sentence{};
  fs::path folder{}, below{};  ///< as in ImportLayout
  std::vector<fs::path> modules{};
  std::string where{};  ///< begins messages
  bool llama2c = false;
};

/// An invalid config is an error of the file here, not of the caller.
ModelConfig completed_or_refused(const ImportPlan& plan) {
  try {
    return completed(plan.config);
  } catch (const UsageError& error) {
    throw DataError(concat(plan.where, ": ", error.what()));
  }
}

/// "12 layers of width 768, 30522 tokens, 512 positions": one of them is wrong.
std::string sizes_text(const ModelConfig& c) {
  return concat(c.layers, " layers of width ", c.d_model, " with ", c.d_ff, " hidden, ", c.heads, " heads of ", c.d_head, ", ",
                c.vocab, " tokens, ", c.token_types > 0 ? concat(c.token_types, " types of tokens, ") : "", c.seq_len,
                " positions");
}

/// A config that describes far more than the files hold is refused before memory is taken; smaller
/// differences are reported by name and shape.
void check_room(const ImportPlan& plan) {
  constexpr double kMostComputed = 1 << 25;  // angles of 128 features at 262,144 positions
  double held = 0;
  for (const importing::SourceTensor& tensor : plan.source->tensors()) held += static_cast<double>(tensor.shape.elements());
  const ModelConfig c = completed_or_refused(plan);
  const auto d = static_cast<double>(c.d_model), positions = static_cast<double>(c.seq_len + c.position_offset);
  const double layer =
      2.0 * d * static_cast<double>(c.heads) * static_cast<double>(c.d_head) + 2.0 * d * static_cast<double>(c.d_ff);
  const double table = c.positions == PositionKind::learned ? positions * d : 0;
  const double least = static_cast<double>(c.layers) * layer + static_cast<double>(c.vocab + c.token_types) * d + table;
  if (least > 4 * held + 1e6)
    throw DataError(concat(plan.where, ": the config describes at least ", least, " parameters (", sizes_text(c),
                           "), the weights are ", held, "; do they belong together?"));
  const bool turns = c.positions == PositionKind::rotary || c.positions == PositionKind::rotary_halves;
  const double computed = turns ? positions * static_cast<double>(c.d_head) : positions * d;  // tables that no file holds
  if (c.positions != PositionKind::learned && computed > std::max(kMostComputed, 4 * held))
    throw DataError(concat(plan.where, ": the config asks for ", c.seq_len,
                           " positions, more than there is room for; make max_position_embeddings smaller"));
}

void override_placement(ModelConfig& config, const ImportOptions& options) {
  if (options.arrangement) {
    config.arrangement = *options.arrangement;
    config.own_arrangement.reset();
  }
  if (options.final_norm) config.final_norm = options.final_norm;
}

[[noreturn]] void refuse_type_of(const fs::path& file, const std::string& type) {
  std::vector<std::string> known;
  for (const ImportFamily* family : all_families())
    for (const char* one : family->model_types) known.emplace_back(one);
  throw DataError(concat(file.string(), ": model_type is ", Json(type).dump(),
                         ", of which only the config is read, not the weights; ", "weights are imported of: ", listed(known)));
}

ImportPlan plan_hugging_face(const fs::path& folder) {
  const fs::path file = folder / kConfig;
  const HuggingFaceConfig read = read_hugging_face_config(file);
  ImportPlan plan{.family = family_of_type(read.model_type), .config = read.config, .notes = read.notes};
  std::erase_if(plan.notes, [&](const std::string& note) { return std::ranges::count(read.training, note) > 0; });
  if (!plan.family) refuse_type_of(file, read.model_type);
  if (!read.differences.empty())
    throw DataError(concat(file.string(),
                           ": this model computes what ours cannot, so it is not imported: ", read.differences.front(),
                           read.differences.size() > 1 ? concat(" (and ", read.differences.size() - 1, " more)") : ""));
  if (plan.family == &importing::distilbert_family())
    plan.config.positions = PositionKind::learned;  // sines are stored as a table
  plan.source = importing::source_of_folder(folder);
  plan.folder = folder;
  plan.where = folder.string();
  return plan;
}

ImportPlan plan_llama2c(const fs::path& file) {
  auto source = std::make_shared<importing::Llama2cSource>(file);
  ImportPlan plan{.family = &importing::llama2c_family(), .config = source->config(), .source = source};
  plan.folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  plan.where = file.string();
  plan.llama2c = true;
  return plan;
}

/// The only llama2.c file of a folder; empty: none.
fs::path llama2c_in(const fs::path& folder) {
  fs::path found;
  for (const fs::path& entry : system_files::entries(folder).value_or(std::vector<fs::path>{})) {
    const fs::path file = folder / entry.filename();
    if (file.extension() != ".bin" || !importing::is_llama2c(file)) continue;
    if (!found.empty())
      throw DataError(concat(folder.string(), ": has several llama2.c files, ", found.filename().string(), " and ",
                             file.filename().string(), "; name one of them"));
    found = file;
  }
  return found;
}

ImportPlan plan_without_config(const fs::path& folder, const ImportOptions& options) {
  std::shared_ptr<const importing::WeightSource> source = importing::source_of_folder(folder);
  const auto guessed = importing::guessed_config(*source, options.heads);
  if (!guessed)
    throw DataError(concat(folder.string(), ": has no ", kConfig,
                           ", which says what model the weights are of; put that of the model ", "beside them"));
  ImportPlan plan{.family = guessed->family, .config = guessed->config, .source = std::move(source), .notes = guessed->notes};
  plan.folder = folder;
  plan.where = folder.string();
  return plan;
}

ImportPlan plan_of_folder(const fs::path& folder, const ImportOptions& options) {
  if (const auto sentence = importing::read_sentence_files(folder)) {
    ImportPlan plan = plan_hugging_face(folder / sentence->transformer);
    plan.sentence = sentence->options;
    plan.folder = folder;
    plan.below = sentence->transformer;
    plan.modules = sentence->others;
    return plan;
  }
  if (is_there(folder / kConfig)) return plan_hugging_face(folder);
  if (const fs::path file = llama2c_in(folder); !file.empty()) return plan_llama2c(file);
  return plan_without_config(folder, options);
}

[[noreturn]] void refuse_file(const fs::path& path) {
  for (const char* extension : {".bin", ".pt", ".pth", ".ckpt", ".pkl"})
    if (path.extension() == extension) importing::refuse_pickle(path);
  throw DataError(concat(path.string(),
                         ": is no checkpoint that is read; give a folder with config.json, its model.safetensors, or a ",
                         "llama2.c .bin"));
}

ImportPlan plan_of(const fs::path& path, const ImportOptions& options) {
  if (is_folder(path)) return plan_of_folder(path, options);
  if (!is_there(path)) throw DataError(concat(path.string(), ": there is no such folder or file"));
  if (path.extension() == ".bin" && !importing::is_pickle(path)) return plan_llama2c(path);
  if (path.extension() != ".safetensors") refuse_file(path);
  if (path.filename() != "model.safetensors")
    throw DataError(concat(path.string(), ": weights are read from model.safetensors, or from the shards that its index names; ",
                           "give the folder, or call this file model.safetensors in a folder of its own"));
  return plan_of_folder(path.has_parent_path() ? path.parent_path() : fs::path("."), options);
}

}  // namespace

ImportedModel import_model(const fs::path& path, const ImportOptions& options) {
  ImportPlan plan = plan_of(path, options);
  override_placement(plan.config, options);
  check_room(plan);
  ImportedModel imported{.model = make_model(plan.config, Start::blank),
                         .weights = plan.source->files().front(),
                         .family = plan.family->name,
                         .notes = plan.notes};
  auto layout = std::make_shared<ImportLayout>();
  layout->accounts = importing::accounts_of(*plan.family, *imported.model, *plan.source, plan.where);
  importing::fill(*imported.model, *plan.source, layout->accounts, options.allow_nonfinite);
  imported.notes.insert(imported.notes.end(), layout->accounts.notes.begin(), layout->accounts.notes.end());
  layout->source = plan.source;
  layout->folder = plan.folder;
  layout->below = plan.below;
  layout->modules = plan.modules;
  layout->llama2c = plan.llama2c;
  imported.layout = std::move(layout);
  imported.sentence = plan.sentence;
  if (plan.config.model == ModelKind::lm)
    imported.end_tokens = importing::read_end_tokens(plan.folder / plan.below, plan.config.vocab);
  return imported;
}

bool is_import(const fs::path& path) {
  const bool folder = is_folder(path);
  if (!folder && !is_file(path)) return false;
  if (!folder && path.extension() != ".safetensors") return true;
  const fs::path config = folder ? path / kConfig : path.parent_path() / kConfig;
  if (!is_there(config)) return true;
  return is_hugging_face_config(small_text(config, "a model's config"));
}

std::vector<std::string> import_families() {
  std::vector<std::string> names;
  for (const ImportFamily* family : all_families()) names.emplace_back(family->name);
  return names;
}

}  // namespace addnorm
