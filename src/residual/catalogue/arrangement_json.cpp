// Rows as JSON: one list of fields per struct serves reading and writing, so that what is written can be read.
#include <algorithm>
#include <cmath>
#include <set>

#include "addnorm/residual/catalogue.h"
#include "core/file.h"
#include "core/json/record.h"
#include "core/printable.h"
#include "core/system/mutex.h"
#include "residual/catalogue/choice_names.h"
#include "residual/catalogue/role_groups.h"
#include "residual/catalogue/row_check.h"

namespace addnorm {

// The lists of fields. Static instead of in an anonymous namespace, where JsonReader could not find them.

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
  io("sub_layer", gain.sub_layer);
}

template <class Io>
static void fields(Io& io, InitSpec::Draw& draw) {
  io("roles", draw.roles);
  io("base", draw.base);
  io("deviation", draw.deviation);
  io("sub_layer", draw.sub_layer);
}

template <class Io>
static void fields(Io& io, InitSpec& init) {
  io("name", init.name);
  io("base", init.base);
  io("deviation", init.deviation);
  io("gains", init.gains);
  io("draws", init.draws);
}

template <class Io>
static void fields(Io& io, Arrangement& row) {
  io("name", row.name);
  io("unit", row.unit);
  io("overrides", row.overrides);
  io("entry", row.entry);
  io("exit", row.exit);
  io("init", row.init);
  io("gains_in_formula", row.gains_in_formula);
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
  static Mutex guard;
  static std::set<std::string> texts;
  const MutexLock lock(guard);
  return texts.insert(text).first->c_str();
}

static void read(const Json& json, int& value, const JsonAt& at) {
  if (!json.is_unsigned() || json.whole() > 9999) at.wrong(json, "a year, such as 2017");
  value = static_cast<int>(json.whole());
}
static void read(const Json& json, const char*& value, const JsonAt& at) {
  std::string text;
  read(json, text, at);
  value = interned(text);
}
static void read(const Json& json, DepthRule& rule, const JsonAt& at) {
  if (json.is_number()) {
    rule = {.constant = json.number()};
    return;
  }
  const Names known = depth_rule_names();
  if (!json.is_string()) at.wrong(json, "a number, or a depth rule: " + listed(known));
  const std::string& name = json.text();
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

/// Names and symbols stand in lines of text, in pictures and in files of their own.
bool has_control(const std::string& text) { return printable(text) != text; }

void check_texts(const Arrangement& row, const JsonAt& at) {
  if (row.name.empty()) at.fail("name is missing or empty; an arrangement needs one");
  constexpr const char* kPlain = "text without control characters (line breaks, tabs)";
  if (has_control(row.name)) at.inside("name").wrong(row.name, kPlain);
  if (has_control(row.init.name)) at.inside("init.name").wrong(row.init.name, kPlain);
  for (std::size_t i = 0; i < row.aliases.size(); ++i)
    if (has_control(row.aliases[i])) at.inside("aliases").item(i).wrong(row.aliases[i], kPlain);
  const auto check_symbols = [&](const UnitSlots& slots, const JsonAt& here) {
    if (has_control(slots.a.symbol)) here.inside("a.symbol").wrong(slots.a.symbol, kPlain);
    if (has_control(slots.b.symbol)) here.inside("b.symbol").wrong(slots.b.symbol, kPlain);
  };
  check_symbols(row.unit, at.inside("unit"));
  for (std::size_t i = 0; i < row.overrides.size(); ++i)
    check_symbols(row.overrides[i].slots, at.inside("overrides").item(i).inside("unit"));
}

bool starts_alike(InitSpec a, InitSpec b) {
  a.name = b.name = "";
  return written(a) == written(b);
}

/// A name of the table is that rule's alone: runs are compared by it.
void check_init_name(InitSpec& init, const JsonAt& at) {
  const InitSpec* rule = find_init_rule(init.name);
  const bool taken = folded(init.name) == kInitOfArrangement || (rule && !starts_alike(init, *rule));
  if (taken)
    at.fail("init.name is ", Json(init.name).dump(),
            ", but what it says is not that rule of 'addnorm arrangements --inits'; give ",
            "it another name, or leave init out and choose the rule beside the arrangement");
  if (!rule) return;
  init.name = rule->name;
  init.source = rule->source;
}

/// A learned coefficient needs a letter in formulas; as a number it would look fixed.
void name_learned(UnitSlots& slots) {
  const auto name = [](CoefficientRule& rule, const char* letter) {
    if (rule.kind != CoefficientRule::Kind::fixed && !*rule.symbol) rule.symbol = letter;
  };
  name(slots.a, "a");
  name(slots.b, "b");
}

}  // namespace

Arrangement arrangement_from_json(std::string_view text, std::string_view where) {
  Arrangement row;
  const Json json = parsed(text, where);
  const JsonAt at{where, ""};
  if (!json.is_object()) at.fail("the file holds ", json.type_name(), "; an object with name, unit, ... is needed");
  read(json, row, at);
  check_texts(row, at);
  check_init_name(row.init, at);
  if (const auto problem = problem_of(row)) at.fail(problem->field, " ", problem->text);
  name_learned(row.unit);
  for (Override& other : row.overrides) name_learned(other.slots);
  return row;
}

Arrangement read_arrangement(const std::filesystem::path& path) {
  return arrangement_from_json(small_text(path, "a row"), path.string());
}

std::string to_json(const Arrangement& row) {
  require(row.is_row(), "to_json: arrangement '", row.name, "' is a class, not a row; a file cannot hold it");
  Arrangement own = row;
  const InitSpec* rule = find_init_rule(row.init.name);
  if (rule && !starts_alike(row.init, *rule)) own.init.name.clear();  // options or choices made another of it
  return written(own).dump(2) + "\n";
}

}  // namespace addnorm
