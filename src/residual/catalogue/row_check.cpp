#include "residual/catalogue/row_check.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "residual/catalogue/role_groups.h"

namespace addnorm {
namespace {

using RuleKind = CoefficientRule::Kind;
using Problem = std::optional<RowProblem>;

Problem problem_of(const UnitSlots& slots, const std::string& at) {
  const bool own = slots.a.kind == RuleKind::learned_scalar || slots.a.kind == RuleKind::learned_vector;  // by the unit alone
  if (slots.skip == Skip::normed && !slots.in)
    return RowProblem{at + ".skip", "is \"normed\", the norm before the branch; it needs in: true"};
  if (!slots.in_scale.is_one() && !slots.in)
    return RowProblem{at + ".in_scale", "is applied after the norm before the branch; it needs in: true"};
  if (slots.skip == Skip::none && !slots.a.is_one() && !slots.a.is_zero())
    return RowProblem{at + ".a", "is the factor of the skip, but skip is \"none\"; leave a out, or choose a skip"};
  if (slots.b.profiled || (slots.a.profiled && !own))
    return RowProblem{at, "has profiled, which is for a of kind learned_scalar or learned_vector only"};
  if (slots.a.profiled && slots.skip == Skip::normed)
    return RowProblem{at + ".a", "is profiled, which measures the stream; it needs skip: \"stream\", not \"normed\""};
  return {};
}

Problem problem_of(const Override& other, const std::string& at) {
  const double share = other.first_share.value_or(0);
  if (!(share >= 0 && share <= 1))
    return RowProblem{at + ".first_share", concat("is ", share, "; it must be a number from 0 to 1")};
  if (other.sub_layer == SubLayer::ffn && other.slots.head_gain != HeadGain::none)
    return RowProblem{at + ".unit.head_gain", "is for attention; a feed-forward part has no heads"};
  return problem_of(other.slots, at + ".unit");
}

/// Of a base or a draw; `usual`: what a new one has.
Problem problem_of_deviation(InitSpec::Base base, double deviation, double usual, const std::string& at) {
  if (deviation != 0 && !is_positive_float(deviation))
    return RowProblem{at, concat("is ", deviation, "; it must be 0, or a number above it ", kFloatRange)};
  if (base == InitSpec::Base::normal || deviation == usual) return {};
  return RowProblem{at, concat("is that of base \"normal\"; that of \"", names(base).at(static_cast<std::size_t>(base)),
                               "\" follows from the widths")};
}

/// Biases stand everywhere.
Problem problem_of_places(const std::vector<Role>& roles, std::optional<SubLayer> sub_layer, const std::string& at) {
  if (!sub_layer) return {};
  for (const Role role : roles) {
    const auto places = places_of(role);
    if (role != Role::bias && std::ranges::find(places, sub_layer) == places.end())
      return RowProblem{at + ".roles", concat("names ", role, ", which sub_layer \"", *sub_layer, "\" does not have")};
  }
  return {};
}

Problem problem_of(const InitGain& gain, const std::string& at) {
  if (gain.roles.empty()) return RowProblem{at + ".roles", "is empty; name the matrices that the gain is for"};
  for (const Role role : gain.roles)
    if (!is_matrix(role))
      return RowProblem{at + ".roles", concat("names ", role, ", which is not drawn; gains are for matrices only")};
  if (gain.sub_layer == SubLayer::cross && !gain.cross)
    return RowProblem{at + ".sub_layer", "is \"cross\", which cross: false leaves out"};
  return problem_of_places(gain.roles, gain.sub_layer, at);
}

Problem problem_of(const InitSpec::Draw& draw, const std::string& at) {
  if (draw.roles.empty()) return RowProblem{at + ".roles", "is empty; name the matrices that are drawn so"};
  for (const Role role : draw.roles)
    if (!is_matrix(role) && role != Role::bias)
      return RowProblem{at + ".roles", concat("names ", role, ", which is not drawn; matrices and biases are")};
  if (Problem problem = problem_of_places(draw.roles, draw.sub_layer, at)) return problem;
  return problem_of_deviation(draw.base, draw.deviation, InitSpec::Draw{}.deviation, at + ".deviation");
}

Problem problem_of(const InitSpec& init) {
  if (Problem problem = problem_of_deviation(init.base, init.deviation, InitSpec{}.deviation, "init.deviation")) return problem;
  for (std::size_t i = 0; i < init.gains.size(); ++i)
    if (Problem problem = problem_of(init.gains[i], concat("init.gains[", i, "]"))) return problem;
  for (std::size_t i = 0; i < init.draws.size(); ++i)
    if (Problem problem = problem_of(init.draws[i], concat("init.draws[", i, "]"))) return problem;
  return {};
}

}  // namespace

Problem problem_of(const Arrangement& row) {
  if (!row.is_row()) return {};
  if (Problem problem = problem_of(row.unit, "unit")) return problem;
  for (std::size_t i = 0; i < row.overrides.size(); ++i)
    if (Problem problem = problem_of(row.overrides[i], concat("overrides[", i, "]"))) return problem;
  return problem_of(row.init);
}

}  // namespace addnorm
