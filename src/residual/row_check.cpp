#include "residual/row_check.h"

#include <cmath>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

using RuleKind = CoefficientRule::Kind;
using Problem = std::optional<RowProblem>;

Problem problem_of(const UnitSlots& slots, const std::string& at) {
  const bool own = slots.a.kind == RuleKind::learned_scalar || slots.a.kind == RuleKind::learned_vector;  // by the unit alone
  if (slots.skip == Skip::normed && !slots.in)
    return RowProblem{at + ".skip", "is \"normed\", the norm before the branch; it needs in: true"};
  if (!slots.in_scale.is_one() && !slots.in)
    return RowProblem{at + ".in_scale", "is a factor behind the norm before the branch; it needs in: true"};
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

Problem problem_of(const InitSpec& init) {
  if (!(init.deviation >= 0) || !std::isfinite(init.deviation))
    return RowProblem{"init.deviation", concat("is ", init.deviation, "; it must be 0 or more")};
  if (init.base != InitSpec::Base::normal && init.deviation != InitSpec{}.deviation)
    return RowProblem{"init.deviation", "is that of base \"normal\"; Xavier's follows from the widths"};
  for (std::size_t i = 0; i < init.gains.size(); ++i) {
    const std::string at = concat("init.gains[", i, "].roles");
    if (init.gains[i].roles.empty()) return RowProblem{at, "is empty; name the matrices that the gain is for"};
    for (const Role role : init.gains[i].roles)
      if (!is_matrix(role)) return RowProblem{at, concat("names ", role, ", which is not drawn; gains are for matrices only")};
  }
  for (std::size_t i = 0; i < init.draws.size(); ++i) {
    const InitSpec::Draw& draw = init.draws[i];
    const std::string at = concat("init.draws[", i, "]");
    if (draw.roles.empty()) return RowProblem{at + ".roles", "is empty; name the matrices that are drawn so"};
    for (const Role role : draw.roles)
      if (!is_matrix(role) && role != Role::bias)
        return RowProblem{at + ".roles", concat("names ", role, ", which is not drawn; matrices and biases are")};
    if (!(draw.deviation >= 0) || !std::isfinite(draw.deviation))
      return RowProblem{at + ".deviation", concat("is ", draw.deviation, "; it must be 0 or more")};
  }
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
