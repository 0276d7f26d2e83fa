#include "model/import/side_files.h"

#include <algorithm>
#include <array>
#include <string>

#include "addnorm/core/error.h"
#include "core/file.h"
#include "core/json/record.h"
#include "core/system/files.h"
#include "model/import/source.h"

namespace addnorm::importing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kEndTokens = "eos_token_id";
constexpr std::array kSideFiles{kConfig,
                                "generation_config.json",
                                "tokenizer.json",
                                "tokenizer_config.json",
                                "special_tokens_map.json",
                                "added_tokens.json",
                                "vocab.json",
                                "merges.txt",
                                "vocab.txt",
                                "tokenizer.model",
                                "tokenizer.bin",
                                "sentencepiece.bpe.model",
                                "source_vocabulary.txt",
                                "target_vocabulary.txt",
                                "model.safetensors.index.json",
                                "modules.json",
                                "sentence_bert_config.json",
                                "config_sentence_transformers.json"};

bool is_side_file(const std::string& name) {
  const bool llama2c_tokenizer = name.starts_with("tok") && name.ends_with(".bin");
  return llama2c_tokenizer || std::ranges::find(kSideFiles, name) != kSideFiles.end();
}

bool is_weights(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name == "model.safetensors" || (name.starts_with("model-") && name.ends_with(".safetensors"))) return true;
  return file.extension() == ".bin" && is_llama2c(file);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::path& entry : system_files::entries(folder).value_or(std::vector<fs::path>{}))
    names.push_back(entry.filename().string());
  std::ranges::sort(names);
  return names;
}

void copy_if_there(const fs::path& from, const fs::path& to) {
  if (!is_file(from) || is_same(from, to)) return;
  make_folder(to.parent_path());
  copy_whole_file(from, to);
}

/// eos_token_id of a file; null where the file or the field is not there.
Json end_tokens_of(const fs::path& file) {
  if (!is_there(file)) return {};
  const Json json = parsed(small_text(file, "a model's config"), file.string());
  const Json* value = json.is_object() ? json.find(kEndTokens) : nullptr;
  return value == nullptr ? Json() : *value;
}

/// The ids below `vocabulary` of a number or a list of them.
std::vector<std::int32_t> known_ids(const Json& value, const fs::path& file, std::size_t vocabulary) {
  std::vector<std::int32_t> known;
  const std::string where = file.string();
  const auto take = [&](const Json& id, const JsonAt& at) {
    if (!id.is_integer()) at.wrong(id, "a whole number, or a list of them");
    if (id.is_unsigned() && id.whole() < vocabulary) known.push_back(static_cast<std::int32_t>(id.whole()));
  };
  const JsonAt at{where, kEndTokens};
  if (!value.is_array()) take(value, at);
  for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) take(value[i], at.item(i));
  return known;
}

}  // namespace

std::vector<std::int32_t> read_end_tokens(const fs::path& folder, std::size_t vocabulary) {
  for (const char* name : {"generation_config.json", "config.json"})
    if (const Json value = end_tokens_of(folder / name); !value.is_null()) return known_ids(value, folder / name, vocabulary);
  return {};
}

void refuse_other_models(const fs::path& from, const fs::path& to, const std::vector<fs::path>& weights) {
  if (is_same(from, to)) return;
  for (const std::string& name : names_in(to)) {
    const auto replaced = [&](const fs::path& file) { return file.filename() == name; };
    if (std::ranges::any_of(weights, replaced) || (is_side_file(name) && is_there(from / name))) continue;
    if (is_side_file(name) || is_weights(to / name))
      throw DataError(concat((to / name).string(),
                             ": is of another model, and would later be read in place of what is exported, ",
                             "or with it; remove it, or export into another folder"));
  }
}

void copy_side_files(const fs::path& from, const fs::path& to) {
  for (const std::string& name : names_in(from))
    if (is_side_file(name)) copy_if_there(from / name, to / name);
}

void copy_config(const fs::path& from, const fs::path& to) { copy_if_there(from / kConfig, to / kConfig); }

}  // namespace addnorm::importing
