// How the weights of a model start, in words that are the same where the start is.
#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "addnorm/lab/claim.h"
#include "addnorm/lab/grid_result.h"
#include "addnorm/model/config.h"
#include "lab/short_figure.h"

namespace addnorm {
namespace {

/// The rule by its name; of an arrangement whose formula contains gains, what is left without them.
std::string rule_text(const InitSpec& spec, bool without_gains) {
  if (without_gains && spec.base == InitSpec::Base::xavier_uniform) return "xavier";
  if (without_gains && spec.base == InitSpec::Base::xavier_normal) return "xavier normal";
  return spec.name.empty() ? "own" : spec.name;
}

double deviation_of(const InitSpec& spec, Role table, std::size_t width) {
  const double by_width = 1 / std::sqrt(static_cast<double>(width));
  if (const InitSpec::Draw* draw = spec.draw_of(table, std::nullopt))
    return draw->base == InitSpec::Base::normal ? draw->deviation : by_width;
  return spec.base == InitSpec::Base::normal ? spec.deviation : by_width;
}

}  // namespace

StartText start_text(const ModelConfig& model) {
  const Arrangement& row = arrangement_of(model);
  const InitSpec spec = with_init(row, model.init).init;
  StartText text{.weights = rule_text(spec, row.gains_in_formula && model.init.by_arrangement())};
  if (model.init.deviation) text.weights += concat(" of ", short_figure(*model.init.deviation));
  if (model.init.branch_scale != 1) text.weights += concat(", W_o and W_2 times ", figure_text(model.init.branch_scale));
  if (model.model == ModelKind::mlp) return text;
  const std::size_t width = model.d_embedding > 0 ? model.d_embedding : model.d_model;
  const double tokens = deviation_of(spec, Role::token_embedding, width);
  const double positions = deviation_of(spec, Role::position_embedding, model.d_model);
  text.embeddings = figure_text(tokens);
  if (model.positions == PositionKind::learned && positions != tokens)
    text.embeddings += concat(", positions ", figure_text(positions));
  return text;
}

std::string weights_in_words(const std::string& weights) {
  const std::size_t rule_ends = std::min({weights.find(" of "), weights.find(", "), weights.size()});
  return concat(weights.substr(0, rule_ends), " weights", weights.substr(rule_ends));
}

}  // namespace addnorm
