// What options make of a row, and which of them do not fit it.
#include <algorithm>

#include "addnorm/residual/residual.h"

namespace addnorm {
namespace {

bool has_norm(const UnitSlots& slots) { return slots.in || slots.mid || slots.out || slots.post; }

bool has_norm(const Arrangement& row) {
  if (!row.is_row() || row.entry || row.exit || has_norm(row.unit)) return true;
  return std::ranges::any_of(row.overrides, [](const Override& other) { return has_norm(other.slots); });
}

/// Nobody asked for a kind of norm (what a model hands on by default), or somebody asked for none.
bool asks_for_nothing(const NormKindOptions& o) {
  const NormKindOptions d;
  if (o.formula == NormFormula::none) return true;
  return o.formula == d.formula && o.eps == d.eps && o.gain == d.gain && o.bias == d.bias &&
         o.gain_is_one_plus == d.gain_is_one_plus;
}

}  // namespace

Arrangement with_options(const Arrangement& row, const ResidualOptions& options) {
  Arrangement chosen = with_init(with_choices(row, options.choices), options.init);
  chosen.entry = options.embedding_norm.value_or(chosen.entry);
  chosen.exit = options.final_norm.value_or(chosen.exit);
  require(has_norm(chosen) || asks_for_nothing(options.norm), "arrangement '", row.name, "' has no norm, so that the norm ",
          formula_of(options.norm), " would change nothing; leave norm at its default, or add one with final_norm or ",
          "embedding_norm");
  return chosen;
}

}  // namespace addnorm
