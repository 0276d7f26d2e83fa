#include "model/import/side_files.h"

#include "core/file.h"
#include "core/json/record.h"

namespace addnorm::importing {
namespace {

namespace fs = std::filesystem;
constexpr const char* kField = "eos_token_id";

/// eos_token_id of a file; null where the file or the field is not there.
Json field_of(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  const Json json = parsed(small_text(file, "a model's config"), file.string());
  const Json* value = json.is_object() ? json.find(kField) : nullptr;
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
  const JsonAt at{where, kField};
  if (!value.is_array()) take(value, at);
  for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) take(value[i], at.item(i));
  return known;
}

}  // namespace

std::vector<std::int32_t> read_end_tokens(const fs::path& folder, std::size_t vocabulary) {
  for (const char* name : {"generation_config.json", "config.json"})
    if (const Json value = field_of(folder / name); !value.is_null()) return known_ids(value, folder / name, vocabulary);
  return {};
}

}  // namespace addnorm::importing
