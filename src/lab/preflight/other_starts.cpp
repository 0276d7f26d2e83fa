#include "lab/preflight/advice.h"

#include <algorithm>
#include <cmath>

#include "addnorm/core/error.h"
#include "core/figures.h"
#include "residual/catalogue/role_groups.h"

namespace addnorm {
namespace {

constexpr const char* kSmallWeights = "gpt2";
constexpr double kLargeTokens = 0.5;

/// Something says already how W_o or W_2 shrink, besides an option: a rule by depth, or the formula.
bool outputs_are_scaled(const InitSpec& spec) {
  return std::ranges::any_of(spec.gains, [](const InitGain& gain) {
    const auto scaled = [&](Role role) { return names_role(gain.roles, role); };
    return (gain.gain.name || gain.contained) && std::ranges::any_of(writing_matrices(), scaled);
  });
}

bool has_skip(const Arrangement& row) { return !row.is_row() || row.unit.skip != Skip::none; }

/// 1/sqrt(2L) of the deeper stack, in as many digits as are printed.
std::string branch_scale_text(const ModelConfig& model) {
  const auto layers = static_cast<double>(std::max(model.layers, model.decoder_layers));
  return significant(1 / std::sqrt(2 * layers), 3);
}

/// Deviation of token vectors, where the weights are of one deviation for all widths.
double token_deviation(const InitSpec& spec) {
  const InitSpec::Draw* draw = spec.draw_of(Role::token_embedding, std::nullopt);
  return draw ? draw->deviation : spec.deviation;
}

OtherStart with_branches(InitOptions init, const std::string& scale, std::string change, const FieldWords& words) {
  init.branch_scale = std::stod(scale);
  return {concat(called(words, "branch_scale"), " ", scale), std::move(change), init};
}

OtherStart with_tokens(InitOptions init, double deviation, const char* change, const FieldWords& words) {
  init.embedding_std = deviation;
  return {concat(called(words, "embedding_std"), " ", deviation), change, init};
}

}  // namespace

std::vector<OtherStart> other_starts(const ModelConfig& model, const FieldWords& words) {
  const Arrangement& row = arrangement_of(model);
  const InitSpec spec = with_init(row, model.init).init;
  std::vector<OtherStart> all;
  if (!has_skip(row)) return all;
  const bool small = spec.base == InitSpec::Base::normal, counts = normed_matrices(row) != writing_matrices();
  const std::string weak = branch_scale_text(model);
  if (outputs_are_scaled(spec)) {
    if (counts && model.init.branch_scale > 1)
      all.push_back(with_branches(model.init, "1", "W_o and W_2 as weak as the rule or the formula has them", words));
  } else if (model.init.branch_scale > std::stod(weak)) {
    if (counts) all.push_back(with_branches(model.init, weak, "start W_o and W_2 at 1/sqrt(2L): branches begin weak", words));
    InitOptions rule = model.init;
    rule.rule = kSmallWeights;
    if (!small)
      all.push_back(
          {concat(called(words, "init"), " ", kSmallWeights), "GPT-2's weights: all small, W_o and W_2 by depth too", rule});
  }
  if (!small || !has_tokens(model.model) || contains_start(row, embeddings())) return all;
  if (model.tied && token_deviation(spec) > spec.deviation)
    all.push_back(with_tokens(model.init, spec.deviation, "embeddings as small as the weights: logits begin small", words));
  if (token_deviation(spec) < kLargeTokens)
    all.push_back(with_tokens(model.init, kLargeTokens, "larger embeddings: a step changes less of them", words));
  return all;
}

}  // namespace addnorm
