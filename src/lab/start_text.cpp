// How the weights of a model start, in words that are the same where the start is.
#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/lab/claim.h"
#include "addnorm/lab/grid_result.h"
#include "addnorm/model/stack.h"
#include "lab/short_figure.h"
#include "residual/role_groups.h"

namespace addnorm {
namespace {

/// What of a start is not the arrangement's formula: its rule without the gains that the formula contains or options add.
InitSpec without_formula(const Arrangement& row, const InitOptions& init) {
  InitSpec spec = with_init(row, {.rule = init.rule}).init;
  if (row.gains_in_formula && init.by_arrangement()) spec.gains.clear();
  std::erase_if(spec.gains, [](const InitGain& gain) { return gain.added; });
  return spec;
}

std::string rule_text(const InitSpec& rest, const Arrangement& row) {
  if (rest.gains.empty() && rest.draws.empty()) {
    if (rest.base == InitSpec::Base::xavier_uniform) return "xavier";
    if (rest.base == InitSpec::Base::xavier_normal) return "xavier normal";
  }
  return rest.name.empty() ? concat("those of ", row.name) : rest.name;
}

/// By which rule of the table all that is not the formula's starts, in another arrangement too.
std::string rule_of(const InitSpec& rest, const std::string& text, const Arrangement& row, const InitOptions& init) {
  if (text == "xavier" || !init.by_arrangement()) return text;
  const std::vector<std::string> table = init_rule_names();
  const bool is_known = std::ranges::find(table, rest.name) != table.end();
  return is_known && !row.gains_in_formula ? rest.name : "";
}

double gain_of(const InitSpec& spec, Role table, const StackShape& shape) {
  double product = 1;
  for (const InitGain& gain : spec.gains)
    if (names_role(gain.roles, table)) product *= value_of(gain.gain, shape, {});
  return product;
}

double deviation_of(const InitSpec& spec, Role table, std::size_t width, const StackShape& shape) {
  const InitSpec::Draw* draw = spec.draw_of(table, std::nullopt);
  const bool is_normal = (draw ? draw->base : spec.base) == InitSpec::Base::normal;
  const double drawn = is_normal ? (draw ? draw->deviation : spec.deviation) : 1 / std::sqrt(static_cast<double>(width));
  return drawn * gain_of(spec, table, shape);
}

bool contains_embeddings(const Arrangement& row) {
  const auto scales = [](const InitGain& gain) { return names_role(gain.roles, Role::token_embedding); };
  return row.gains_in_formula && std::ranges::any_of(row.init.gains, scales);
}

}  // namespace

StartText start_text(const ModelConfig& model) {
  const Arrangement& row = arrangement_of(model);
  const InitSpec rest = without_formula(row, model.init);
  StartText text{.weights = rule_text(rest, row)};
  text.rule = rule_of(rest, text.weights, row, model.init);
  if (model.init.deviation) text.weights += concat(" of ", short_figure(*model.init.deviation));
  if (model.init.branch_scale != 1) text.weights += concat(", W_o and W_2 times ", figure_text(model.init.branch_scale));
  if (model.model == ModelKind::mlp) return text;
  const InitSpec spec = with_init(row, model.init).init;
  const StackShape shape = first_stack_shape(model);
  const std::size_t width = model.d_embedding > 0 ? model.d_embedding : model.d_model;
  const double tokens = deviation_of(spec, Role::token_embedding, width, shape);
  const double positions = deviation_of(spec, Role::position_embedding, model.d_model, shape);
  const bool differ = model.positions == PositionKind::learned && positions != tokens;
  text.embeddings = figure_text(tokens);
  if (differ) text.embeddings += concat(", positions ", figure_text(positions));
  if (contains_embeddings(row)) return text;
  text.token_std = tokens;
  if (differ) text.position_std = positions;
  return text;
}

std::string weights_in_words(const std::string& weights) {
  const std::size_t rule_ends = std::min({weights.find(" of "), weights.find(", "), weights.size()});
  return concat(weights.substr(0, rule_ends), " weights", weights.substr(rule_ends));
}

}  // namespace addnorm
