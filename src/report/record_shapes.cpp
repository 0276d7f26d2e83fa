#include "report/record_shapes.h"

#include <optional>

#include "report/numbers.h"

namespace addnorm {
namespace {

Json number_or_null(const Json& value) { return value.is_number() ? rounded_copy(value) : Json(); }

template <class Take>
Json each(const Json& list, const Take& take) {
  Json all = Json::array();
  for (const Json& item : list.array_items()) take(item, all);
  return all;
}

Json numbers_of(const Json& list) {
  return each(list, [](const Json& item, Json& into) { into.push_back(number_or_null(item)); });
}

/// Nothing where it is something else.
std::optional<Json> conforming(const Json& value, const ExpectedField& field) {
  const auto if_so = [&](bool is, auto make) { return is ? std::optional<Json>(make()) : std::nullopt; };
  const bool list = value.is_array();
  switch (field.holds) {
    case Holds::text:
      return if_so(value.is_string(), [&] { return value; });
    case Holds::number:
      return if_so(value.is_number() || value.is_null(), [&] { return number_or_null(value); });
    case Holds::whole:
      return if_so(value.is_unsigned(), [&] { return value; });
    case Holds::flag:
      return if_so(value.is_boolean(), [&] { return value; });
    case Holds::scalar:
      return if_so(value.is_string() || value.is_number(), [&] { return rounded_copy(value); });
    case Holds::texts:
      return if_so(list, [&] {
        return each(value, [](const Json& item, Json& into) { into.push_back(item.is_string() ? item : Json("")); });
      });
    case Holds::numbers:
      return if_so(list, [&] { return numbers_of(value); });
    case Holds::wholes:
      return if_so(list, [&] {
        return each(value, [](const Json& item, Json& into) {
          if (item.is_unsigned()) into.push_back(item);
        });
      });
    case Holds::lists:
      return if_so(list, [&] {
        return each(value,
                    [](const Json& item, Json& into) { into.push_back(item.is_array() ? numbers_of(item) : Json::array()); });
      });
    case Holds::object:
      return if_so(value.is_object(), [&] { return shaped(value, field.inside); });
    case Holds::objects:
      return if_so(list, [&] {
        return each(value, [&](const Json& item, Json& into) {
          if (item.is_object()) into.push_back(shaped(item, field.inside));
        });
      });
  }
  return std::nullopt;
}

Json empty_of(Holds holds) {
  switch (holds) {
    case Holds::text:
    case Holds::scalar:
      return "";
    case Holds::whole:
      return 0;
    case Holds::flag:
      return false;
    case Holds::number:
      return nullptr;
    case Holds::object:
      return Json::object();
    default:
      return Json::array();
  }
}

}  // namespace

Json shaped(const Json& from, std::span<const ExpectedField> fields) {
  Json out = Json::object();
  for (const ExpectedField& field : fields) {
    const Json* found = from.find(field.name);
    std::optional<Json> value = found ? conforming(*found, field) : std::nullopt;
    if (value)
      out[field.name] = std::move(*value);
    else if (field.needed)
      out[field.name] = empty_of(field.holds);
  }
  return out;
}

}  // namespace addnorm
