#include "lab/grid/list_values.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "addnorm/train/run_options.h"
#include "train/run/options_json.h"

namespace addnorm {
namespace {

std::string plain_text(const Json& value) { return value.is_string() ? value.text() : value.dump(); }

}  // namespace

Json value_in_our_words(const std::string& name, const Json& value, std::string_view place, const FieldWords& words) {
  const ModelConfig model = run_options_of(Json{{name, value}}, place, words).options.model;
  if (!value.is_string()) return value;
  const std::string ours = option_named(name);
  return ours == "arrangement" ? Json(model.arrangement) : ours == "init" ? Json(model.init.rule) : value;
}

Json::Array without_repeats(const std::string& name, const Json::Array& values, std::string_view place, const FieldWords& words,
                            std::vector<std::string>& notes) {
  Json::Array all;
  for (const Json& value : values) {
    Json ours = value_in_our_words(name, value, place, words);
    if (std::ranges::find(all, ours) == all.end())
      all.push_back(std::move(ours));
    else
      notes.push_back(concat(called(words, option_named(name)), ": ", plain_text(value),
                             ours == value ? " stands there twice" : " is ",
                             ours == value ? "" : concat(plain_text(ours), ", which stands there too"), ", and is run once"));
  }
  return all;
}

}  // namespace addnorm
