#include "model/import/end_tokens.h"

#include "core/file.h"
#include "core/json_record.h"

namespace addnorm::importing {
namespace {

namespace fs = std::filesystem;
constexpr const char* kField = "eos_token_id";

/// Empty: the file or the field is not there, or it is null.
std::vector<double> ids_of(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  const Json json = parsed(small_text(file, "a model's config"), file.string());
  const Json* value = json.is_object() ? json.find(kField) : nullptr;
  if (value == nullptr || value->is_null()) return {};
  const std::string where = file.string();
  std::vector<double> ids(1);
  if (value->is_array())
    read(*value, ids, JsonAt{where, kField});
  else
    read(*value, ids.front(), JsonAt{where, kField});
  return ids;
}

}  // namespace

std::vector<std::int32_t> read_end_tokens(const fs::path& folder, std::size_t vocabulary) {
  std::vector<double> ids = ids_of(folder / "generation_config.json");
  if (ids.empty()) ids = ids_of(folder / "config.json");
  std::vector<std::int32_t> known;
  for (const double id : ids)
    if (id >= 0 && id < static_cast<double>(vocabulary)) known.push_back(static_cast<std::int32_t>(id));
  return known;
}

}  // namespace addnorm::importing
