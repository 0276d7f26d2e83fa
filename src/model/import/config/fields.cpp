#include "model/import/config/fields.h"

#include <cmath>

namespace addnorm::hugging_face {

std::optional<Fields::Found> Fields::find(FieldNames names) const {
  std::optional<Found> first;
  for (const char* name : names) {
    const Json* value = object_.find(name);
    if (!value || value->is_null()) continue;
    if (!first)
      first = Found{name, value};
    else if (*value != *first->value)
      at_.fail(at_.inside(first->name).path, " is ", first->value->dump(), ", but ", at_.inside(name).path, " is ", value->dump(),
               "; they are the same field and must agree");
  }
  return first;
}

std::size_t Fields::size(FieldNames names, std::size_t otherwise, std::size_t most) {
  if (const auto given = size_if_given(names, most)) return *given;
  for (const char* name : names)
    if (const Json* value = object_.find(name)) at_.inside(name).wrong(*value, concat("a whole number, 1 ... ", most));
  defaults_.push_back(concat(at_.inside(*names.begin()).path, " ", otherwise));
  return otherwise;
}

std::optional<std::size_t> Fields::size_if_given(FieldNames names, std::size_t most) {
  const auto found = find(names);
  if (!found) return std::nullopt;
  const Json& value = *found->value;
  if (!value.is_unsigned() || value.whole() < 1 || value.whole() > most)
    at_.inside(found->name).wrong(value, concat("a whole number, 1 ... ", most));
  return value.whole();
}

std::size_t Fields::whole(FieldNames names, std::size_t otherwise, std::size_t most) {
  const auto found = find(names);
  if (!found) return otherwise;
  const Json& value = *found->value;
  if (!value.is_unsigned() || value.whole() > most) at_.inside(found->name).wrong(value, concat("a whole number, 0 ... ", most));
  return value.whole();
}

std::optional<double> Fields::number_if_given(FieldNames names, double least, double most) {
  const auto found = find(names);
  if (!found) return std::nullopt;
  const Json& value = *found->value;
  if (!value.is_number() || !(value.number() >= least && value.number() <= most))
    at_.inside(found->name).wrong(value, concat("a number, ", least, " ... ", most));
  return value.number();
}

double Fields::number(FieldNames names, double otherwise, double least, double most) {
  return number_if_given(names, least, most).value_or(otherwise);
}

std::optional<double> Fields::number_or_none(const char* name, double otherwise, double least, double most) {
  const Json* value = object_.find(name);
  return value ? number_if_given({name}, least, most) : otherwise;
}

bool Fields::flag(FieldNames names, bool otherwise) {
  const auto found = find(names);
  if (found) read(*found->value, otherwise, at_.inside(found->name));
  return otherwise;
}

std::string Fields::text(FieldNames names, const char* otherwise) {
  const auto found = find(names);
  std::string value = otherwise;
  if (found) read(*found->value, value, at_.inside(found->name));
  return value;
}

const Json* Fields::object_if_given(const char* name) {
  const auto found = find({name});
  if (!found) return nullptr;
  if (!found->value->is_object()) at_.inside(name).wrong(*found->value, "an object");
  return found->value;
}

bool Fields::mentions(const char* name, std::string_view word, bool otherwise) const {
  const auto found = find({name});
  return found ? found->value->dump().find(word) != std::string::npos : otherwise;
}

std::vector<std::string> Fields::architectures() {
  std::vector<std::string> all;
  if (const auto found = find({"architectures"})) read(*found->value, all, at_.inside(found->name));
  return all;
}

void Fields::note_defaults(std::string_view model_type) {
  if (!defaults_.empty()) note("not in the file, so as ", model_type, " has it by default: ", listed(defaults_));
}

void Fields::refuse(FieldNames names, std::string_view allowed) {
  const auto found = find(names);
  if (found) at_.inside(found->name).wrong(*found->value, allowed);
  at_.fail(at_.inside(*names.begin()).path, " is missing; it must be ", allowed);
}

}  // namespace addnorm::hugging_face
