// What options make of the initialisation of a row: the rest changes, what the formula contains stays.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "addnorm/core/error.h"
#include "addnorm/residual/arrangement.h"
#include "core/json/json.h"
#include "residual/catalogue/role_groups.h"

namespace addnorm {
namespace {

/// Those of the row's formula. with_init marks them; a row that it has not made has no others.
std::vector<InitGain> gains_of_formula(const Arrangement& row) {
  std::vector<InitGain> gains;
  if (!row.gains_in_formula) return gains;
  const bool marked = std::ranges::any_of(row.init.gains, &InitGain::contained);
  for (const InitGain& gain : row.init.gains)
    if (gain.contained == marked) gains.push_back(gain);
  return gains;
}

std::vector<Role> roles_in_formula(const Arrangement& row) {
  std::vector<Role> roles;
  for (const InitGain& gain : gains_of_formula(row)) roles.insert(roles.end(), gain.roles.begin(), gain.roles.end());
  return roles;
}

/// A rule's gain beside the gains of a formula, which stand in its place on the matrices that they act on.
struct Beside {
  std::vector<InitGain> left{};
  std::vector<Role> replaced{};
  std::optional<SubLayer> stays{};  ///< the kind of attention in which some of these stay
};

Beside beside(const std::vector<InitGain>& formula, const InitGain& gain) {
  InitGain whole = gain;
  whole.roles.clear();
  Beside result;
  for (const Role role : gain.roles) {
    std::vector<std::optional<SubLayer>> own = places_of(role), left;
    std::erase_if(own, [&](const auto& at) { return !gain.acts_on(role, at); });
    for (const auto& at : own)
      if (std::ranges::none_of(formula, [&](const InitGain& each) { return each.acts_on(role, at); })) left.push_back(at);
    if (left.size() < own.size()) result.replaced.push_back(role);
    if (left.size() == own.size()) {
      whole.roles.push_back(role);
    } else if (!left.empty()) {
      result.stays = left.front();  // of two places one is taken
      InitGain& part = result.left.emplace_back(gain);
      part.roles = {role};
      part.sub_layer = result.stays;
    }
  }
  if (!whole.roles.empty()) result.left.insert(result.left.begin(), whole);
  return result;
}

/// The rule with the row's own gains in place of its own, on the matrices that these act on.
InitSpec with_formula(InitSpec rule, const Arrangement& row) {
  const std::vector<InitGain> formula = gains_of_formula(row);
  std::vector<InitGain> gains;
  for (const InitGain& gain : rule.gains) {
    const std::vector<InitGain> left = beside(formula, gain).left;
    gains.insert(gains.end(), left.begin(), left.end());
  }
  for (InitGain gain : formula) {
    gain.added = gain.contained = true;
    gains.push_back(std::move(gain));
  }
  rule.gains = std::move(gains);
  return rule;
}

/// No draw of a normal distribution is further out than ten deviations.
bool draws_floats(double deviation) { return 10 * deviation <= std::numeric_limits<float>::max(); }

/// As it was typed: "0.5", "1e-320".
std::string all_digits(double value) {
  if (!std::isfinite(value)) return concat(value);
  const std::string text = Json(value).dump();
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

/// Options as a caller knows them: "embedding_std", or "--embedding-std".
class Started {
 public:
  Started(const Arrangement& row, const FieldWords& words) : row_(row), result_(row), words_(words) {
    const bool marked = std::ranges::any_of(row.init.gains, &InitGain::contained);
    for (InitGain& gain : spec().gains) gain.contained = marked ? gain.contained : row.gains_in_formula;
  }

  void rule(const std::string& name) { spec() = with_formula(init_rule_named(name), row_); }

  void deviation(const std::optional<double>& value) {
    if (!positive("init_std", value)) return;
    require(spec().base == InitSpec::Base::normal, called("init_std"), " is ", *value, ", but ",
            spec().name.empty() ? "this initialisation" : spec().name,
            " takes its deviations from the widths of matrices. It is for rules with one deviation for all: gpt2, bert");
    spec().deviation = *value;
    check_drawn("init_std", *value, *value);
  }

  void tables(std::vector<Role> roles, const char* name, const std::optional<double>& value) {
    if (!positive(name, value)) return;
    require(!contains_start(row_, roles), called(name), " is ", *value, ", but the formula of ", row_.name,
            " contains how embeddings start. Leave it out", where_it_goes());
    check_drawn(name, *value, *value);
    drop_gains(roles);  // what is said is the deviation, whatever the rule scales
    spec().draws.push_back({.roles = std::move(roles), .base = InitSpec::Base::normal, .deviation = *value});
  }

  void branches(double scale) {
    positive("branch_scale", scale);
    if (scale == 1) return;
    check_drawn("branch_scale", scale, scale * (spec().base == InitSpec::Base::normal ? spec().deviation : 1));
    spec().gains.push_back({.roles = writing_matrices(), .gain = {.constant = scale}, .added = true});
  }

  Arrangement result() && { return std::move(result_); }

 private:
  InitSpec& spec() { return result_.init; }
  /// A rule of the table is the same start without the formula.
  std::string where_it_goes() const {
    if (!find_init_rule(row_.init.name)) return "";
    return concat(", or take ", called("arrangement"), " residual with ", called("init"), " ", row_.init.name);
  }
  void drop_gains(const std::vector<Role>& roles) {
    for (InitGain& gain : spec().gains) std::erase_if(gain.roles, [&](Role role) { return names_role(roles, role); });
    std::erase_if(spec().gains, [](const InitGain& gain) { return gain.roles.empty(); });
  }
  std::string called(const char* name) const { return addnorm::called(words_, name); }
  void check_drawn(const char* name, double value, double deviation) const {
    require(draws_floats(deviation), called(name), " is ", value,
            "; some of the weights that start so would be beyond 3.4e+38, where float32 ends. Give a smaller one");
  }
  bool positive(const char* name, const std::optional<double>& value) const {
    const bool good = !value || is_positive_float(*value);
    require(good, called(name), " is ", good ? "" : all_digits(*value), "; it must be a number above 0 ", kFloatRange);
    return value.has_value();
  }

  const Arrangement& row_;
  Arrangement result_;
  const FieldWords& words_;
};

/// A factor that shrinks branches with depth, whatever the weights are.
std::string depth_in_formula(const Arrangement& row) {
  if (row.unit.in_scale.name) return text_of(row.unit.in_scale);
  return row.unit.b.kind == CoefficientRule::Kind::fixed && row.unit.b.start.name ? text_of(row.unit.b.start) : "";
}

/// LayerNorm scaling: its authors find that its gain goes where output matrices shrink too.
bool scales_norms_by_layer(const Arrangement& row) {
  return row.unit.in_scale.name && row.unit.in_scale.name == std::string_view("inv-sqrt-layer");
}

bool weakens_outputs_by_depth(const InitSpec& rule) {
  const StackShape deep{.width = 1, .layers = 100};
  return std::ranges::any_of(rule.gains, [&](const InitGain& gain) {
    return gain.gain.name && names_role(gain.roles, Role::attention_out) &&
           value_of(gain.gain, deep, deep.unit(deep.layers - 1, 0)) < 1;
  });
}

std::string contained_text(const Arrangement& row) {
  return concat("the formula of ", row.name, " contains gains of ", symbols_of(roles_in_formula(row)), "; ");
}

/// Of a rule other than the arrangement's own.
void note_rule(const Arrangement& row, const InitSpec& rule, std::vector<std::string>& notes) {
  std::vector<Role> replaced;
  std::optional<SubLayer> stays;
  for (const InitGain& gain : rule.gains) {
    const Beside both = beside(gains_of_formula(row), gain);
    replaced.insert(replaced.end(), both.replaced.begin(), both.replaced.end());
    if (both.stays) stays = both.stays;
  }
  if (!replaced.empty() && rule.name != row.init.name)
    notes.push_back(concat(contained_text(row), "those of init ", rule.name, " on ", symbols_of(replaced), " are left out",
                           stays ? concat(", except in ", *stays, "-attention") : ""));
  const std::string twice = depth_in_formula(row);
  if (!twice.empty() && weakens_outputs_by_depth(rule))
    notes.push_back(concat(row.name, " weakens its branches by ", twice, "; init ", rule.name,
                           " weakens their output matrices by depth as well",
                           scales_norms_by_layer(row) ? ", and takes the effect away" : ""));
}

/// The slots of units of a kind, in stacks of any depth.
std::vector<UnitSlots> slots_of(const Arrangement& row, SubLayer at) {
  std::vector<UnitSlots> all;
  for (const Override& other : row.overrides) {
    if (other.sub_layer.value_or(at) != at) continue;
    all.push_back(other.slots);
    if (other.first_share.value_or(1) >= 1) return all;
  }
  all.push_back(row.unit);
  return all;
}

void note_branch_scale(const Arrangement& row, double scale, std::vector<std::string>& notes) {
  if (const std::vector<Role> normed = normed_matrices(row); scale != 1 && !normed.empty())
    notes.push_back(concat("a norm of ", row.name, " stands after ", symbols_of(normed), " and takes a branch scale of ", scale,
                           " away: it has no effect on the output, only on how far a step turns them"));
  std::vector<Role> both = writing_matrices();
  const std::vector<Role> formula = roles_in_formula(row);
  std::erase_if(both, [&](Role role) { return !names_role(formula, role); });
  if (scale != 1 && !both.empty())
    notes.push_back(concat(contained_text(row), "a branch scale of ", scale, " multiplies those of ", symbols_of(both)));
}

/// Deviations of rules are below 1, and so are nearly all of their gains.
void note_large_numbers(const InitOptions& options, const FieldWords& words, std::vector<std::string>& notes) {
  constexpr double kLarge = 100;
  const auto look_at = [&](const char* name, const std::optional<double>& value) {
    if (value && *value > kLarge && draws_floats(*value))  // others are refused
      notes.push_back(concat(called(words, name), " is ", *value,
                             ", far above what any rule has: losses may begin in the thousands, or be NaN"));
  };
  look_at("init_std", options.deviation);
  look_at("embedding_std", options.embedding_std);
  look_at("position_std", options.position_std);
  look_at("branch_scale", options.branch_scale);
}

std::vector<std::string> contained_in(const Arrangement& row, const DrawnStack& stack) {
  std::vector<std::string> lines;
  for (const InitGain& gain : gains_of_formula(row)) {
    std::vector<Role> roles = gain.roles;
    std::erase_if(roles, [&](Role role) { return !stack.has(role); });
    if (!roles.empty()) lines.push_back(concat(symbols_of(roles), ": times ", text_of(gain.gain, stack.shape)));
  }
  const auto add = [&](const CoefficientRule& rule) {
    if (rule.kind == CoefficientRule::Kind::fixed) return;
    if (rule.profiled)
      lines.push_back(concat(rule.symbol, " is measured on the first batch"));
    else if (!rule.start.is_one())
      lines.push_back(concat(rule.symbol, " starts at ", text_of(rule.start, stack.shape)));
  };
  add(row.unit.a);
  add(row.unit.b);
  return lines;
}

}  // namespace

std::vector<Role> normed_matrices(const Arrangement& row) {
  std::vector<Role> normed;
  if (!row.is_row()) return normed;
  for (const Role role : writing_matrices())
    if (std::ranges::all_of(places_of(role),
                            [&](const auto& at) { return std::ranges::all_of(slots_of(row, *at), &UnitSlots::out); }))
      normed.push_back(role);
  return normed;
}

void check_rule(const InitOptions& options, const FieldWords& words) {
  try {
    if (!options.by_arrangement()) init_rule_named(options.rule);
  } catch (const UsageError& error) {
    throw UsageError(concat(called(words, "init"), ": ", error.what()));
  }
}

Arrangement with_init(const Arrangement& row, const InitOptions& options, const FieldWords& words) {
  Started started(row, words);
  if (!options.by_arrangement()) started.rule(options.rule);
  started.deviation(options.deviation);
  started.tables(embeddings(), "embedding_std", options.embedding_std);
  started.tables({Role::position_embedding}, "position_std", options.position_std);
  started.branches(options.branch_scale);
  return std::move(started).result();
}

std::vector<std::string> contained_init(const Arrangement& row, const std::vector<DrawnStack>& stacks) {
  std::vector<std::vector<std::string>> of_each;
  for (const DrawnStack& stack : stacks) of_each.push_back(contained_in(row, stack));
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < stacks.size(); ++i)
    for (const std::string& line : of_each[i]) {
      const auto says_it = [&](const std::vector<std::string>& other) { return std::ranges::find(other, line) != other.end(); };
      const bool in_all = std::ranges::all_of(of_each, says_it);
      if (!in_all) lines.push_back(concat(name_of(stacks[i].shape.kind), ": ", line));
      if (in_all && i == 0) lines.push_back(line);
    }
  return lines;
}

bool contains_start(const Arrangement& row, const std::vector<Role>& matrices) {
  const std::vector<Role> formula = roles_in_formula(row);
  return std::ranges::any_of(matrices, [&](Role role) { return names_role(formula, role); });
}

std::vector<std::string> init_notes(const Arrangement& row, const InitOptions& options, const FieldWords& words) {
  std::vector<std::string> notes;
  note_large_numbers(options, words, notes);
  if (!options.by_arrangement()) note_rule(row, init_rule_named(options.rule), notes);
  note_branch_scale(row, options.branch_scale, notes);
  return notes;
}

}  // namespace addnorm
