#include "cli/xray/tokens.h"

#include "addnorm/core/error.h"
#include "core/json/json.h"
#include "core/printable.h"

namespace addnorm::cli {

TokenNames::TokenNames(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
  const Json json = parsed(tokenizer.to_json(), "tokenizer.json");
  const Json* const added = json.find("added_tokens");
  if (added != nullptr && added->is_array())
    for (const Json& token : added->array_items())
      pieces_[static_cast<std::int32_t>(token["id"].whole())] = token["content"].text();
  const Json* const model = json.find("model");
  const Json* const vocab = model != nullptr ? model->find("vocab") : nullptr;
  if (vocab != nullptr && vocab->is_object())
    for (const auto& [piece, id] : vocab->items())
      if (id.is_integer()) pieces_.emplace(static_cast<std::int32_t>(id.integer()), piece);
}

std::string TokenNames::operator()(std::int32_t token) const {
  const std::string text = tokenizer_.decode(std::span(&token, 1));
  if (!text.empty()) return "\"" + printable(text) + "\"";
  const auto found = pieces_.find(token);
  return found != pieces_.end() ? printable(found->second) : concat("token ", token);
}

}  // namespace addnorm::cli
