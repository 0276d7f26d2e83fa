// Records as JSON. A struct lists its fields once, `fields(io, value)` with io("name", value.name) for each, an enum its names,
// `names(E)`; reading, writing and messages follow from these. Both are found by their argument's namespace.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "core/json/json.h"

namespace addnorm {

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
  [[noreturn]] void wrong(const Json& value, std::string_view allowed) const;
};

template <HasFields T>
void read(const Json& json, T& value, const JsonAt& at);

void read(const Json& json, bool& value, const JsonAt& at);
void read(const Json& json, double& value, const JsonAt& at);
// std::size_t and std::uint64_t are one type here and two there.
void read(const Json& json, unsigned& value, const JsonAt& at);
void read(const Json& json, unsigned long& value, const JsonAt& at);
void read(const Json& json, unsigned long long& value, const JsonAt& at);
void read(const Json& json, std::string& value, const JsonAt& at);
template <NamedEnum E>
void read(const Json& json, E& value, const JsonAt& at) {
  const Names& known = names(value);
  const auto found = json.is_string() ? std::ranges::find(known, json.text()) : known.end();
  if (found == known.end()) {
    const std::string near = json.is_string() ? nearest_name(json.text(), known) : "";
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
    if (const Json* found = object_.find(name)) read(*found, value, at_.inside(name));
  }
  /// Lists that explain their fields to people too.
  template <class T>
  void operator()(const char* name, T& value, const char* /*help*/) {
    (*this)(name, value);
  }
  void finish() const {
    for (const auto& [name, value] : object_.items())
      if (std::ranges::find(known_, name) == known_.end()) at_.fail(unknown_name("field", at_.inside(name).path, known_paths()));
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
  for (const auto& [name, now] : mine.object.items())
    if (now != theirs.object[name]) object[name] = now;
  return object;
}

}  // namespace addnorm
