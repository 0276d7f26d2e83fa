#include "residual/class_arrangement.h"

#include <algorithm>

#include "addnorm/core/error.h"

namespace addnorm {

StreamSum pre_ln_gain(const StackShape& shape, const BranchDeviation& s) {
  StreamSum x = StreamSum::input();
  for (std::size_t i = 0; i < shape.units(); ++i) x = x.with(i + 1, s(shape.unit(i)));
  return x.normed();
}

const ClassArrangement* find_class(const Arrangement& row) {
  const auto& all = class_arrangements();
  const auto found = std::ranges::find_if(all, [&](const ClassArrangement& one) { return one.row.name == row.name; });
  return found == all.end() ? nullptr : &*found;
}

const ClassArrangement& class_of(const Arrangement& row) {
  const ClassArrangement* one = find_class(row);
  require(one != nullptr, "arrangement '", row.name, "' is a class of your own: its text is all that is known of it");
  return *one;
}

ClassText class_text(const Arrangement& row) {
  const ClassArrangement& one = class_of(row);
  ClassText text = one.said;
  if (one.choose) one.choose(text, row.choices);
  return text;
}

}  // namespace addnorm
