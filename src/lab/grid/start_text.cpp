// How the weights of a model start, in words that are the same where the start is.
#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/lab/grid_result.h"
#include "addnorm/model/stack.h"
#include "core/figures.h"
#include "core/json/json.h"
#include "residual/catalogue/role_groups.h"

namespace addnorm {
namespace {

/// What of a start is not the arrangement's formula: its rule without the gains that the formula contains or options add.
InitSpec without_formula(const Arrangement& row, const InitOptions& init) {
  InitSpec spec = with_init(row, {.rule = init.rule}).init;
  if (row.gains_in_formula && init.by_arrangement()) spec.gains.clear();
  std::erase_if(spec.gains, [](const InitGain& gain) { return gain.added; });
  return spec;
}

/// As it was typed: "0.02", "2".
std::string all_digits(double value) {
  const std::string text = Json(value).dump();
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

/// "xavier normal", "normal of 0.1".
std::string base_words(InitSpec::Base base, double deviation) {
  if (base == InitSpec::Base::xavier_uniform) return "xavier";
  std::string words = names(base).at(static_cast<std::size_t>(base));
  std::ranges::replace(words, '_', ' ');
  return base == InitSpec::Base::normal ? concat(words, " of ", all_digits(deviation)) : words;
}

/// ", W_o W_2 times 1/√(2L)" of matrices in the stack and of the head; "": none of them is named.
std::string on_matrices(std::vector<Role> roles, const std::string& what, std::optional<SubLayer> at, bool cross) {
  std::erase_if(roles, is_embedding);
  if (roles.empty()) return "";
  std::string symbols = symbols_of(roles);
  std::erase(symbols, ',');  // a comma ends a part of a label
  std::string text = concat(", ", symbols, " ", what);
  if (at) text += concat(" in ", *at);
  return cross ? text : text + " outside of cross-attention";
}

/// All that is drawn but embeddings: the same text, the same weights.
struct DrawnText {
  std::string rule{};       ///< of the table, or the base: "gpt2", "normal"
  std::string deviation{};  ///< " of 0.1" where a rule of the table has another one
  std::string details{};    ///< " of 0.1, W_o W_2 times 0.5"
  bool known = false;       ///< the table has it
};

std::string all_words(const InitSpec& spec) {
  std::string text = base_words(spec.base, spec.deviation);
  for (const InitGain& gain : spec.gains)
    text += on_matrices(gain.roles, "times " + text_of(gain.gain), gain.sub_layer, gain.cross);
  for (const InitSpec::Draw& draw : spec.draws)
    text += on_matrices(draw.roles, base_words(draw.base, draw.deviation), draw.sub_layer, true);
  return text;
}

/// The rule of the table that draws the same; "": none does.
std::string known_rule(const std::string& words) {
  for (const InitSpec& rule : init_rules())
    if (all_words(rule) == words) return rule.name;
  return "";
}

DrawnText drawn_text(const InitSpec& spec) {
  const std::string words = all_words(spec);
  if (std::string known = known_rule(words); !known.empty()) return {.rule = std::move(known), .known = true};
  const std::size_t base_ends = std::min({words.find(" of "), words.find(", "), words.size()});
  return {.rule = words.substr(0, base_ends), .details = words.substr(base_ends)};
}

/// " of 0.1" where a deviation is asked for that is not the rule's own.
std::string asked_deviation(const InitSpec& spec, const InitOptions& init) {
  return init.deviation.value_or(spec.deviation) == spec.deviation ? "" : concat(" of ", all_digits(*init.deviation));
}

/// A rule of the table keeps its name with another deviation; what is not in the table is drawn with the one that holds.
DrawnText drawn_text(InitSpec spec, const InitOptions& init) {
  DrawnText drawn = drawn_text(spec);
  drawn.deviation = asked_deviation(spec, init);
  if (drawn.known || drawn.deviation.empty()) return drawn;
  spec.deviation = *init.deviation;
  return drawn_text(spec);
}

/// Where gains of the formula stand beside a rule's, or in their place: the rule as it is asked for, or as the source
/// prescribes it, with those gains; "": none of the table.
std::string asked_rule(const Arrangement& row, const InitOptions& init) {
  if (!row.gains_in_formula) return "";
  return init.by_arrangement() ? known_rule(all_words(row.init)) : init_rule_named(init.rule).name;
}

double gain_of(const InitSpec& spec, Role table, const StackShape& shape) {
  double product = 1;
  for (const InitGain& gain : spec.gains)
    if (names_role(gain.roles, table)) product *= value_of(gain.gain, shape, {});
  return product;
}

/// A table as tall and as wide as this.
struct TiedTable {
  Role role;
  std::size_t rows, width;
};

double deviation_drawn(InitSpec::Base base, double deviation, const TiedTable& table, const StackShape& shape) {
  using Base = InitSpec::Base;
  const auto over_root = [](double variance, std::size_t n) { return std::sqrt(variance / static_cast<double>(n)); };
  switch (base) {
    case Base::normal:
      return deviation;
    case Base::xavier_uniform:
    case Base::xavier_normal:
      return over_root(2, table.width + table.rows);
    case Base::fan_in_uniform:
      return over_root(1, 3 * table.width);
    case Base::fan_in_normal:
      return over_root(1, table.width);
    case Base::small_normal:
      return over_root(0.4, shape.width);
  }
  return deviation;
}

double deviation_of(const InitSpec& spec, const TiedTable& table, const StackShape& shape) {
  const InitSpec::Draw* draw = spec.draw_of(table.role, std::nullopt);
  const bool by_width = !draw && spec.base != InitSpec::Base::normal;
  const InitSpec::Base base = draw ? draw->base : by_width ? InitSpec::Base::fan_in_normal : spec.base;
  return deviation_drawn(base, draw ? draw->deviation : spec.deviation, table, shape) * gain_of(spec, table.role, shape);
}

}  // namespace

StartText start_text(const ModelConfig& model) {
  const Arrangement& row = arrangement_of(model);
  const InitSpec without = without_formula(row, model.init);
  const DrawnText drawn = drawn_text(without, model.init);
  const std::string asked = asked_rule(row, model.init);
  StartText text{.rule = drawn.known ? drawn.rule : ""};
  text.own_start = !contained_init(row, drawn_stacks(model)).empty();
  const std::string scale =
      model.init.branch_scale != 1 ? concat(", W_o and W_2 times ", all_digits(model.init.branch_scale)) : "";
  text.weights = concat(drawn.rule, drawn.deviation, drawn.details, scale);
  const std::string begin = asked.empty() ? concat(drawn.rule, " weights", drawn.deviation)
                                          : concat(asked, " weights", asked_deviation(without, model.init)),
                    end = concat(asked.empty() ? drawn.details : "", scale);
  text.weights_in_words = begin + end;
  text.weights_in_label = concat(begin, row.gains_in_formula ? " with its own gains" : "", end);
  if (model.model == ModelKind::mlp) return text;
  const InitSpec spec = with_init(row, model.init).init;
  const StackShape shape = first_stack_shape(model);
  const TiedTable words{Role::token_embedding, model.vocab, model.d_embedding > 0 ? model.d_embedding : model.d_model};
  const TiedTable places{Role::position_embedding, model.seq_len + model.position_offset, model.d_model};
  text.token_std = deviation_of(spec, words, shape);
  text.embeddings = figure_text(*text.token_std);
  text.formula_has_embeddings = contains_start(row, embeddings());
  if (const double positions = deviation_of(spec, places, shape);
      model.positions == PositionKind::learned && positions != *text.token_std) {
    text.position_std = positions;
    text.embeddings += concat(", positions ", figure_text(positions));
  }
  return text;
}

}  // namespace addnorm
