// Rows as JSON: one list of fields per struct serves reading and writing, so that what is written can be read.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "addnorm/residual/arrangement_file.h"
#include "core/file.h"
#include "core/json_record.h"

namespace addnorm {

// The lists of fields. Static instead of in a namespace without name, where JsonReader could not find them.

template <class Io>
static void fields(Io& io, CoefficientRule& rule) {
  io("kind", rule.kind);
  io("start", rule.start);
  io("symbol", rule.symbol);
  io("profiled", rule.profiled);
}

template <class Io>
static void fields(Io& io, UnitSlots& slots) {
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
static void fields(Io& io, Override& other) {
  io("sub_layer", other.sub_layer);
  io("first_share", other.first_share);
  io("unit", other.slots);
}

template <class Io>
static void fields(Io& io, InitGain& gain) {
  io("roles", gain.roles);
  io("gain", gain.gain);
  io("cross", gain.cross);
}

template <class Io>
static void fields(Io& io, InitSpec& init) {
  io("base", init.base);
  io("deviation", init.deviation);
  io("gains", init.gains);
}

template <class Io>
static void fields(Io& io, Arrangement& row) {
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

static const Names& names(CoefficientRule::Kind) {
  static const Names all{"fixed", "learned_scalar", "learned_vector", "learned_per_layer"};
  return all;
}
static const Names& names(Skip) {
  static const Names all{"none", "stream", "normed"};
  return all;
}
static const Names& names(HeadGain) {
  static const Names all{"none", "before_out", "after_out"};
  return all;
}
static const Names& names(InitSpec::Base) {
  static const Names all{"xavier_uniform", "xavier_normal", "normal"};
  return all;
}
static const Names& names(SubLayer) {
  static const Names all{"self", "cross", "ffn"};
  return all;
}
static const Names& names(Role) {
  static const Names all = [] {
    Names roles;
    for (Role role = Role::q; role <= Role::coefficient; role = static_cast<Role>(static_cast<int>(role) + 1))
      roles.emplace_back(name_of(role));
    return roles;
  }();
  return all;
}

/// Rows keep `const char*`; what came from a file lives here, as long as the program.
static const char* interned(const std::string& text) {
  static std::mutex guard;
  static std::set<std::string> texts;
  const std::scoped_lock lock(guard);
  return texts.insert(text).first->c_str();
}

static void read(const Json& json, int& value, const JsonAt& at) {
  if (!json.is_number_integer() || json.get<double>() < 0 || json.get<double>() > 9999) at.wrong(json, "a year, such as 2017");
  value = json.get<int>();
}
static void read(const Json& json, const char*& value, const JsonAt& at) {
  std::string text;
  read(json, text, at);
  value = interned(text);
}
static void read(const Json& json, DepthRule& rule, const JsonAt& at) {
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
static void read(const Json& json, CoefficientRule& rule, const JsonAt& at) {
  if (json.is_object()) return read<CoefficientRule>(json, rule, at);
  if (!json.is_number() && !json.is_string())
    at.wrong(json, "a number, a depth rule, or an object with kind, start, symbol and profiled");
  rule = {};
  read(json, rule.start, at);
}
static Json written(const DepthRule& rule) { return rule.name ? Json(rule.name) : Json(rule.constant); }

namespace {

void check_slots(const UnitSlots& slots, const JsonAt& at) {
  if (slots.skip == Skip::normed && !slots.in)
    at.fail(at.path, ".skip is \"normed\", the norm before the branch; it needs in: true");
  const bool learned =
      slots.a.kind == CoefficientRule::Kind::learned_scalar || slots.a.kind == CoefficientRule::Kind::learned_vector;
  if (slots.b.profiled || (slots.a.profiled && !learned))
    at.fail(at.path, ": profiled is for a of kind learned_scalar or learned_vector only");
}

void check_row(const Arrangement& row, std::string_view where) {
  const JsonAt at{where, ""};
  if (row.name.empty()) at.fail("name is missing or empty; an arrangement needs one");
  check_slots(row.unit, at.inside("unit"));
  for (std::size_t i = 0; i < row.overrides.size(); ++i) {
    const JsonAt here = at.inside("overrides").item(i);
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
  const JsonAt at{where, ""};
  if (!json.is_object()) at.fail("the file holds ", json.type_name(), "; an object with name, unit, ... is needed");
  read(json, row, at);
  check_row(row, where);
  return row;
}

Arrangement read_arrangement(const std::filesystem::path& path) {
  return arrangement_from_json(small_text(path, "a row"), path.string());
}

std::string to_json(const Arrangement& row) {
  require(row.is_row(), "to_json: arrangement '", row.name, "' is a class, not a row; a file cannot hold it");
  return written(row).dump(2) + "\n";
}

}  // namespace addnorm
