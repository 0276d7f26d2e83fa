// Rows as JSON: one list of fields per struct serves reading and writing, so that what is written can be read.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/residual/arrangement_file.h"
#include "core/file.h"

namespace addnorm {
namespace {

using Json = nlohmann::ordered_json;

// The lists of fields.

template <class Io>
void fields(Io& io, CoefficientRule& rule) {
  io("kind", rule.kind);
  io("start", rule.start);
  io("symbol", rule.symbol);
  io("profiled", rule.profiled);
}

template <class Io>
void fields(Io& io, UnitSlots& slots) {
  io("in", slots.in);
  io("in_scale", slots.in_scale);
  io("mid", slots.mid);
  io("head_gain", slots.head_gain);
  io("out", slots.out);
  io("skip", slots.skip);
  io("a", slots.a);
  io("b", slots.b);
  io("post", slots.post);
}

template <class Io>
void fields(Io& io, Override& other) {
  io("sub_layer", other.sub_layer);
  io("first_share", other.first_share);
  io("unit", other.slots);
}

template <class Io>
void fields(Io& io, InitGain& gain) {
  io("roles", gain.roles);
  io("gain", gain.gain);
  io("cross", gain.cross);
}

template <class Io>
void fields(Io& io, InitSpec& init) {
  io("base", init.base);
  io("deviation", init.deviation);
  io("gains", init.gains);
}

template <class Io>
void fields(Io& io, Arrangement& row) {
  io("name", row.name);
  io("unit", row.unit);
  io("overrides", row.overrides);
  io("entry", row.entry);
  io("exit", row.exit);
  io("init", row.init);
  io("source", row.source);
  io("year", row.year);
  io("used_by", row.used_by);
  io("failure", row.failure);
  io("aliases", row.aliases);
}

// The names of enums, in their order.

using Names = std::vector<std::string>;
const Names& names(CoefficientRule::Kind) {
  static const Names all{"fixed", "learned_scalar", "learned_vector", "learned_per_layer"};
  return all;
}
const Names& names(Skip) {
  static const Names all{"none", "stream", "normed"};
  return all;
}
const Names& names(HeadGain) {
  static const Names all{"none", "before_out", "after_out"};
  return all;
}
const Names& names(InitSpec::Base) {
  static const Names all{"xavier_uniform", "xavier_normal", "normal"};
  return all;
}
const Names& names(SubLayer) {
  static const Names all{"self", "cross", "ffn"};
  return all;
}
const Names& names(Role) {
  static const Names all = [] {
    Names roles;
    for (Role role = Role::q; role <= Role::coefficient; role = static_cast<Role>(static_cast<int>(role) + 1))
      roles.emplace_back(name_of(role));
    return roles;
  }();
  return all;
}
template <class T>
concept Named = std::is_enum_v<T>;
template <class T>
concept HasFields = requires(T& value, void (*io)(const char*, ...)) {
  fields(io, value);
};

std::string listed(const Names& known) {
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  return all;
}

/// Rows keep `const char*`; what came from a file lives here, as long as the program.
const char* interned(const std::string& text) {
  static std::mutex guard;
  static std::set<std::string> texts;
  const std::scoped_lock lock(guard);
  return texts.insert(text).first->c_str();
}

// Reading. A place is the file and the path of the field: "my.json: unit.a.kind".

struct At {
  std::string_view where;
  std::string path;

  At inside(std::string_view name) const { return {where, path.empty() ? std::string(name) : concat(path, ".", name)}; }
  At item(std::size_t i) const { return {where, concat(path, "[", i, "]")}; }
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw DataError(concat(where, ": ", parts...));
  }
  [[noreturn]] void wrong(const Json& value, std::string_view allowed) const {
    std::string shown = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (shown.size() > 60) shown = shown.substr(0, 57) + "...";
    fail(path, " is ", shown, "; it must be ", allowed);
  }
};

template <HasFields T>
void read(const Json& json, T& value, const At& at);

void read(const Json& json, bool& value, const At& at) {
  if (!json.is_boolean()) at.wrong(json, "true or false");
  value = json.get<bool>();
}
void read(const Json& json, double& value, const At& at) {
  if (!json.is_number()) at.wrong(json, "a number");
  value = json.get<double>();
}
void read(const Json& json, int& value, const At& at) {
  if (!json.is_number_integer() || json.get<double>() < 0 || json.get<double>() > 9999) at.wrong(json, "a year, such as 2017");
  value = json.get<int>();
}
void read(const Json& json, std::string& value, const At& at) {
  if (!json.is_string()) at.wrong(json, "a string");
  value = json.get<std::string>();
}
void read(const Json& json, const char*& value, const At& at) {
  std::string text;
  read(json, text, at);
  value = interned(text);
}
template <Named E>
void read(const Json& json, E& value, const At& at) {
  const Names& known = names(value);
  const auto found = json.is_string() ? std::ranges::find(known, json.get<std::string>()) : known.end();
  if (found == known.end()) {
    const std::string near = json.is_string() ? nearest_name(json.get<std::string>(), known) : "";
    at.wrong(json, concat("one of ", listed(known), near.empty() ? "" : "; did you mean " + near + "?"));
  }
  value = static_cast<E>(found - known.begin());
}
void read(const Json& json, DepthRule& rule, const At& at) {
  if (json.is_number()) {
    rule = {.constant = json.get<double>()};
    return;
  }
  const Names known = depth_rule_names();
  if (!json.is_string()) at.wrong(json, "a number, or a depth rule: " + listed(known));
  const auto name = json.get<std::string>();
  if (std::ranges::find(known, name) == known.end()) at.fail(at.path, ": ", unknown_name("depth rule", name, known));
  rule = depth_rule_named(name);
}
/// A coefficient may be written as its value alone.
void read(const Json& json, CoefficientRule& rule, const At& at) {
  if (json.is_object()) return read<CoefficientRule>(json, rule, at);
  if (!json.is_number() && !json.is_string())
    at.wrong(json, "a number, a depth rule, or an object with kind, start, symbol and profiled");
  rule = {};
  read(json, rule.start, at);
}
template <class T>
void read(const Json& json, std::optional<T>& value, const At& at) {
  if (json.is_null()) return value.reset();
  read(json, value.emplace(), at);
}
template <class T>
void read(const Json& json, std::vector<T>& values, const At& at) {
  if (!json.is_array()) at.wrong(json, "an array");
  values.clear();
  for (std::size_t i = 0; i < json.size(); ++i) read(json[i], values.emplace_back(), at.item(i));
}

/// Takes the fields of one object; whatever is left over is unknown.
class Reader {
 public:
  Reader(const Json& object, const At& at) : object_(object), at_(at) {
    if (!object.is_object()) at.wrong(object, "an object");
  }
  template <class T>
  void operator()(const char* name, T& value) {
    known_.emplace_back(name);
    if (const auto found = object_.find(name); found != object_.end()) read(*found, value, at_.inside(name));
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
  const At& at_;
  Names known_;
};

template <HasFields T>
void read(const Json& json, T& value, const At& at) {
  Reader reader(json, at);
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
template <Named E>
Json written(const E& value) {
  return names(value).at(static_cast<std::size_t>(value));
}
Json written(const DepthRule& rule) { return rule.name ? Json(rule.name) : Json(rule.constant); }
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

class Writer {
 public:
  template <class T>
  void operator()(const char* name, T& value) {
    object[name] = written(value);
  }
  Json object = Json::object();
};

/// Without what a new T has anyway.
template <HasFields T>
Json written(const T& value) {
  T own = value, fresh{};
  Writer mine, theirs;
  fields(mine, own);
  fields(theirs, fresh);
  Json object = Json::object();
  for (const auto& field : mine.object.items())
    if (field.value() != theirs.object[field.key()]) object[field.key()] = field.value();
  return object;
}

// The whole file.

Json parsed(std::string_view text, std::string_view where) {
  std::vector<std::set<std::string>> keys;  // of the objects around the present place
  const auto once = [&](int, Json::parse_event_t event, Json& value) {
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

void check_slots(const UnitSlots& slots, const At& at) {
  if (slots.skip == Skip::normed && !slots.in)
    at.fail(at.path, ".skip is \"normed\", the norm before the branch; it needs in: true");
  const bool learned =
      slots.a.kind == CoefficientRule::Kind::learned_scalar || slots.a.kind == CoefficientRule::Kind::learned_vector;
  if (slots.b.profiled || (slots.a.profiled && !learned))
    at.fail(at.path, ": profiled is for a of kind learned_scalar or learned_vector only");
}

void check_row(const Arrangement& row, std::string_view where) {
  const At at{where, ""};
  if (row.name.empty()) at.fail("name is missing or empty; an arrangement needs one");
  check_slots(row.unit, at.inside("unit"));
  for (std::size_t i = 0; i < row.overrides.size(); ++i) {
    const At here = at.inside("overrides").item(i);
    check_slots(row.overrides[i].slots, here.inside("unit"));
    const double share = row.overrides[i].first_share.value_or(0);
    if (!(share >= 0 && share <= 1)) here.inside("first_share").wrong(share, "a number from 0 to 1");
  }
  if (!(row.init.deviation >= 0)) at.inside("init.deviation").wrong(row.init.deviation, "0 or more");
}

}  // namespace

Arrangement arrangement_from_json(std::string_view text, std::string_view where) {
  Arrangement row;
  const Json json = parsed(text, where);
  const At at{where, ""};
  if (!json.is_object()) at.fail("the file holds ", json.type_name(), "; an object with name, unit, ... is needed");
  read(json, row, at);
  check_row(row, where);
  return row;
}

Arrangement read_arrangement(const std::filesystem::path& path) {
  constexpr std::uint64_t kMost = 1 << 20;
  const InputFile file(path);
  if (file.size() > kMost) throw DataError(concat(path.string(), ": ", file.size(), " bytes; a row has at most ", kMost));
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size());
  return arrangement_from_json(text, path.string());
}

std::string to_json(const Arrangement& row) {
  require(row.is_row(), "to_json: arrangement '", row.name, "' is a class, not a row; a file cannot hold it");
  return written(row).dump(2) + "\n";
}

}  // namespace addnorm
