// Records as JSON. A struct lists its fields once, `fields(io, value)` with io("name", value.name) for each, an enum its names,
// `names(E)`; reading, writing and messages follow from these. Both are found by their argument's namespace.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"

namespace addnorm {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

template <class T>
concept NamedEnum = std::is_enum_v<T>;
template <class T>
concept HasFields = requires(T& value, void (*io)(const char*, ...)) {
  fields(io, value);
};

// Reading. A place is the file and the path of the field: "my.json: unit.a.kind".

struct JsonAt {
  std::string_view where;
  std::string path;

  JsonAt inside(std::string_view name) const { return {where, path.empty() ? std::string(name) : concat(path, ".", name)}; }
  JsonAt item(std::size_t i) const { return {where, concat(path, "[", i, "]")}; }
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw DataError(concat(where, ": ", parts...));
  }
  [[noreturn]] void wrong(const Json& value, std::string_view allowed) const {
    std::string shown = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (shown.size() > 60) {
      std::size_t end = 57;
      while ((static_cast<unsigned char>(shown[end]) & 0xC0) == 0x80) --end;  // not inside a letter
      shown = shown.substr(0, end) + "...";
    }
    fail(path, " is ", shown, "; it must be ", allowed);
  }
};

template <HasFields T>
void read(const Json& json, T& value, const JsonAt& at);

inline void read(const Json& json, bool& value, const JsonAt& at) {
  if (!json.is_boolean()) at.wrong(json, "true or false");
  value = json.get<bool>();
}
inline void read(const Json& json, double& value, const JsonAt& at) {
  if (!json.is_number()) at.wrong(json, "a number");
  value = json.get<double>();
}
inline void read(const Json& json, std::size_t& value, const JsonAt& at) {
  if (!json.is_number_unsigned()) at.wrong(json, "a whole number from 0 on");
  value = json.get<std::size_t>();
}
inline void read(const Json& json, std::string& value, const JsonAt& at) {
  if (!json.is_string()) at.wrong(json, "a string");
  value = json.get<std::string>();
}
template <NamedEnum E>
void read(const Json& json, E& value, const JsonAt& at) {
  const Names& known = names(value);
  const auto found = json.is_string() ? std::ranges::find(known, json.get<std::string>()) : known.end();
  if (found == known.end()) {
    const std::string near = json.is_string() ? nearest_name(json.get<std::string>(), known) : "";
    at.wrong(json, concat("one of ", listed(known), near.empty() ? "" : "; did you mean " + near + "?"));
  }
  value = static_cast<E>(found - known.begin());
}
template <class T>
void read(const Json& json, std::optional<T>& value, const JsonAt& at) {
  if (json.is_null()) return value.reset();
  read(json, value.emplace(), at);
}
template <class T>
void read(const Json& json, std::vector<T>& values, const JsonAt& at) {
  if (!json.is_array()) at.wrong(json, "an array");
  values.clear();
  for (std::size_t i = 0; i < json.size(); ++i) read(json[i], values.emplace_back(), at.item(i));
}

/// Takes the fields of one object; whatever is left over is unknown.
class JsonReader {
 public:
  JsonReader(const Json& object, const JsonAt& at) : object_(object), at_(at) {
    if (!object.is_object()) at.wrong(object, "an object");
  }
  template <class T>
  void operator()(const char* name, T& value) {
    known_.emplace_back(name);
    if (const auto found = object_.find(name); found != object_.end()) read(*found, value, at_.inside(name));
  }
  /// Lists that explain their fields to people too.
  template <class T>
  void operator()(const char* name, T& value, const char* /*help*/) {
    (*this)(name, value);
  }
  void finish() const {
    for (const auto& field : object_.items())
      if (std::ranges::find(known_, field.key()) == known_.end())
        at_.fail(unknown_name("field", at_.inside(field.key()).path, known_paths()));
  }

 private:
  Names known_paths() const {
    Names paths;
    for (const std::string& name : known_) paths.push_back(at_.inside(name).path);
    return paths;
  }
  const Json& object_;
  const JsonAt& at_;
  Names known_;
};

template <HasFields T>
void read(const Json& json, T& value, const JsonAt& at) {
  JsonReader reader(json, at);
  fields(reader, value);
  reader.finish();
}

// Writing.

template <HasFields T>
Json written(const T& value);

template <class T>
Json written(const T& value) requires(std::is_arithmetic_v<T> || std::is_convertible_v<T, std::string>) {
  return value;
}
template <NamedEnum E>
Json written(const E& value) {
  return names(value).at(static_cast<std::size_t>(value));
}
template <class T>
Json written(const std::optional<T>& value) {
  return value ? written(*value) : Json();
}
template <class T>
Json written(const std::vector<T>& values) {
  Json all = Json::array();
  for (const T& value : values) all.push_back(written(value));
  return all;
}

class JsonWriter {
 public:
  template <class T>
  void operator()(const char* name, T& value) {
    object[name] = written(value);
  }
  template <class T>
  void operator()(const char* name, T& value, const char* /*help*/) {
    (*this)(name, value);
  }
  Json object = Json::object();
};

/// Without what a new T has anyway.
template <HasFields T>
Json written(const T& value) {
  T own = value, fresh{};
  JsonWriter mine, theirs;
  fields(mine, own);
  fields(theirs, fresh);
  Json object = Json::object();
  for (const auto& field : mine.object.items())
    if (field.value() != theirs.object[field.key()]) object[field.key()] = field.value();
  return object;
}

// The whole file.

inline constexpr int kDeepest = 64;  // what is read is walked by recursion

inline Json parsed(std::string_view text, std::string_view where) {
  std::vector<std::set<std::string>> keys;  // of the objects around the present place
  const auto once = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kDeepest) throw DataError(concat(where, ": nested deeper than ", kDeepest, " levels; no record of ours is"));
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw DataError(concat(where, ": field ", value.dump(), " is given twice"));
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), once);
  } catch (const Json::exception& error) {
    std::string_view what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    what = what.substr(std::min(what.find("] ") + 2, what.size()));
    throw DataError(concat(where, ": not JSON: ", what));
  }
}

}  // namespace addnorm
