#include "model/import/side_files.h"

#include "core/file.h"
#include "core/json/record.h"

namespace addnorm::importing {
namespace {

namespace fs = std::filesystem;

/// Each is a flag of 1_Pooling/config.json.
struct PoolingFlag {
  const char* name;
  std::optional<Pooling> ours;
};
constexpr std::array kPoolings{
    PoolingFlag{"pooling_mode_mean_tokens", Pooling::mean},        PoolingFlag{"pooling_mode_cls_token", Pooling::first},
    PoolingFlag{"pooling_mode_max_tokens", std::nullopt},          PoolingFlag{"pooling_mode_mean_sqrt_len_tokens", std::nullopt},
    PoolingFlag{"pooling_mode_weightedmean_tokens", std::nullopt}, PoolingFlag{"pooling_mode_lasttoken", std::nullopt},
};

Json json_of_file(const fs::path& path) { return parsed(small_text(path, "a file of sentence-transformers"), path.string()); }

Pooling pooling_of(const fs::path& file) {
  const Json json = json_of_file(file);
  const std::string where = file.string();
  const JsonAt at{where, ""};
  std::vector<std::string> on;
  std::optional<Pooling> found;
  for (const PoolingFlag& flag : kPoolings) {
    bool set = false;
    if (const Json* value = json.find(flag.name)) read(*value, set, at.inside(flag.name));
    if (!set) continue;
    on.emplace_back(flag.name);
    found = flag.ours;
  }
  if (on.size() != 1 || !found)
    throw DataError(concat(file.string(), ": pools by ", on.empty() ? "nothing" : listed(on),
                           "; supported is one of pooling_mode_mean_tokens and pooling_mode_cls_token"));
  return *found;
}

std::string text_of(const Json& module, const char* name, const fs::path& file) {
  const Json* value = module.find(name);
  if (!value || !value->is_string())
    throw DataError(concat(file.string(), ": a module has no ", name, "; each has idx, name, path and type"));
  return value->text();
}

/// The last word of "sentence_transformers.models.Pooling".
std::string kind_of(const std::string& type) { return type.substr(type.rfind('.') + 1); }

fs::path below(const fs::path& folder, const std::string& path, const fs::path& file) {
  if (path.find_first_of("/\\") != std::string::npos || path == ".." || path == "." || path.find('\0') != std::string::npos)
    throw DataError(
        concat(file.string(), ": a module has the path ", Json(path).dump(), "; it must be the plain name of a folder"));
  return path.empty() ? folder : folder / path;
}

std::size_t max_tokens_of(const fs::path& folder) {
  const fs::path file = folder / "sentence_bert_config.json";
  if (!is_there(file)) return 0;
  const Json json = json_of_file(file);
  const Json* value = json.find("max_seq_length");
  std::size_t most = 0;
  if (value && !value->is_null()) read(*value, most, JsonAt{file.string(), "max_seq_length"});
  if (const Json* lower = json.find("do_lower_case"); lower && *lower == true)
    throw DataError(concat(file.string(),
                           ": do_lower_case is true: texts are made lower-case before the tokenizer, which is not ",
                           "done here; set it to false if the tokenizer does so by itself"));
  return most;
}

}  // namespace

std::optional<SentenceFiles> read_sentence_files(const fs::path& folder) {
  const fs::path file = folder / "modules.json";
  if (!is_there(file)) return std::nullopt;
  const Json modules = json_of_file(file);
  if (!modules.is_array() || modules.size() == 0) throw DataError(concat(file.string(), ": is no list of modules"));
  SentenceFiles found;
  std::vector<std::string> kinds;
  for (const Json& module : modules.array_items()) {
    kinds.push_back(kind_of(text_of(module, "type", file)));
    const std::string path = text_of(module, "path", file);
    const fs::path place = below(folder, path, file);
    if (kinds.back() != "Transformer" && !path.empty()) found.others.emplace_back(path);
    if (kinds.back() == "Transformer") {
      found.transformer = path;
      found.options.max_tokens = max_tokens_of(place);
    } else if (kinds.back() == "Pooling") {
      found.options.pooling = pooling_of(place / "config.json");
    } else if (kinds.back() == "Normalize") {
      found.options.normalize = true;
    }
  }
  const std::vector<std::string> plain{"Transformer", "Pooling"}, normed{"Transformer", "Pooling", "Normalize"};
  if (kinds != plain && kinds != normed)
    throw DataError(concat(file.string(), ": the modules are ", listed(kinds), "; supported are ", listed(plain),
                           ", and Normalize after them"));
  return found;
}

}  // namespace addnorm::importing
