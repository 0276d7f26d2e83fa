// What options make of the initialisation of a row: the rest changes, what the formula contains stays.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "addnorm/core/error.h"
#include "addnorm/residual/arrangement.h"
#include "residual/role_groups.h"

namespace addnorm {
namespace {

/// Matrices as people write them, in the order of a layer.
constexpr std::array kSymbols{std::pair{Role::q, "W_q"},
                              std::pair{Role::k, "W_k"},
                              std::pair{Role::v, "W_v"},
                              std::pair{Role::attention_out, "W_o"},
                              std::pair{Role::ffn_in, "W_1"},
                              std::pair{Role::ffn_out, "W_2"},
                              std::pair{Role::token_embedding, "embeddings"}};

std::string matrices_text(const std::vector<Role>& roles) {
  std::string text;
  for (const auto& [role, symbol] : kSymbols)
    if (names_role(roles, role)) text += concat(text.empty() ? "" : ", ", symbol);
  return text;
}

std::vector<Role> roles_in_formula(const Arrangement& row) {
  std::vector<Role> roles;
  if (row.gains_in_formula)
    for (const InitGain& gain : row.init.gains) roles.insert(roles.end(), gain.roles.begin(), gain.roles.end());
  return roles;
}

/// The rule with the row's own gains in place of its own, on the matrices that these name.
InitSpec with_formula(InitSpec rule, const Arrangement& row) {
  const std::vector<Role> kept = roles_in_formula(row);
  for (InitGain& gain : rule.gains) std::erase_if(gain.roles, [&](Role role) { return names_role(kept, role); });
  std::erase_if(rule.gains, [](const InitGain& gain) { return gain.roles.empty(); });
  if (!row.gains_in_formula) return rule;
  for (InitGain gain : row.init.gains) {
    gain.added = true;
    rule.gains.push_back(std::move(gain));
  }
  return rule;
}

/// Options as a caller knows them: "embedding_std", or "--embedding-std".
class Started {
 public:
  Started(const Arrangement& row, FieldWords words) : row_(row), result_(row), words_(words) {}

  void rule(const std::string& name) { spec() = with_formula(init_rule_named(name), row_); }

  void deviation(const std::optional<double>& value) {
    if (!positive("init_std", value)) return;
    require(spec().base == InitSpec::Base::normal, called("init_std"), " is ", *value, ", but ",
            spec().name.empty() ? "this initialisation" : spec().name,
            " takes its deviations from the widths of matrices. It is for rules with one deviation for all: gpt2, bert");
    spec().deviation = *value;
  }

  void tables(std::vector<Role> roles, const char* name, const std::optional<double>& value) {
    if (!positive(name, value)) return;
    require(!names_role(roles_in_formula(row_), roles.back()), called(name), " is ", *value, ", but the formula of ", row_.name,
            " contains how embeddings start. Leave it out, or take ", called("arrangement"), " residual with ", called("init"),
            " ", row_.init.name);
    spec().draws.push_back({.roles = std::move(roles), .base = InitSpec::Base::normal, .deviation = *value});
  }

  void branches(double scale) {
    positive("branch_scale", scale);
    if (scale != 1) spec().gains.push_back({.roles = writing_matrices(), .gain = {.constant = scale}, .added = true});
  }

  Arrangement result() && { return std::move(result_); }

 private:
  InitSpec& spec() { return result_.init; }
  std::string called(const char* name) const { return words_ ? words_(name) : name; }
  bool positive(const char* name, const std::optional<double>& value) const {
    require(!value || (std::isfinite(*value) && *value > 0), called(name), " is ", value.value_or(0),
            "; it must be a number above 0");
    return value.has_value();
  }

  const Arrangement& row_;
  Arrangement result_;
  FieldWords words_;
};

/// A factor that shrinks branches with depth, whatever the weights are.
std::string depth_in_formula(const Arrangement& row) {
  if (row.unit.in_scale.name) return text_of(row.unit.in_scale);
  return row.unit.b.kind == CoefficientRule::Kind::fixed && row.unit.b.start.name ? text_of(row.unit.b.start) : "";
}

bool scales_outputs_by_depth(const InitSpec& rule) {
  return std::ranges::any_of(rule.gains,
                             [](const InitGain& gain) { return gain.gain.name && names_role(gain.roles, Role::attention_out); });
}

}  // namespace

Arrangement with_init(const Arrangement& row, const InitOptions& options, FieldWords words) {
  Started started(row, words);
  if (!options.by_arrangement()) started.rule(options.rule);
  started.deviation(options.deviation);
  started.tables(embeddings(), "embedding_std", options.embedding_std);
  started.tables({Role::position_embedding}, "position_std", options.position_std);
  started.branches(options.branch_scale);
  return std::move(started).result();
}

std::vector<std::string> contained_init(const Arrangement& row) {
  std::vector<std::string> lines;
  if (row.gains_in_formula)
    for (const InitGain& gain : row.init.gains)
      lines.push_back(concat(matrices_text(gain.roles), ": times ", text_of(gain.gain)));
  const auto add = [&](const CoefficientRule& rule) {
    if (rule.kind == CoefficientRule::Kind::fixed) return;
    if (rule.profiled)
      lines.push_back(concat(rule.symbol, " is measured on the first batch"));
    else if (!rule.start.is_one())
      lines.push_back(concat(rule.symbol, " starts at ", text_of(rule.start)));
  };
  add(row.unit.a);
  add(row.unit.b);
  return lines;
}

std::vector<std::string> init_notes(const Arrangement& row, const InitOptions& options) {
  if (options.by_arrangement()) return {};
  const InitSpec& rule = init_rule_named(options.rule);
  std::vector<std::string> notes;
  const std::vector<Role> kept = roles_in_formula(row);
  std::vector<Role> replaced;
  for (const InitGain& gain : rule.gains)
    for (const Role role : gain.roles)
      if (names_role(kept, role)) replaced.push_back(role);
  if (!replaced.empty() && rule.name != row.init.name)
    notes.push_back(concat("the formula of ", row.name, " contains gains of ", matrices_text(kept), "; those of init ", rule.name,
                           " on ", matrices_text(replaced), " are left out"));
  const std::string twice = depth_in_formula(row);
  if (!twice.empty() && scales_outputs_by_depth(rule))
    notes.push_back(concat(row.name, " weakens its branches by ", twice, "; init ", rule.name,
                           " weakens their output matrices by depth as well, and takes the effect away"));
  return notes;
}

}  // namespace addnorm
