#include "residual/class_arrangement.h"

#include <algorithm>

#include "addnorm/core/error.h"

namespace addnorm {

StreamSum StreamSum::times(double factor) const {
  StreamSum all = *this;
  for (double& term : all.terms_) term *= factor;
  return all;
}

StreamSum StreamSum::with(std::size_t index, double deviation) const {
  StreamSum all = *this;
  all.terms_.resize(std::max(all.terms_.size(), index + 1));
  all.terms_[index] += deviation;
  return all;
}

StreamSum operator+(const StreamSum& a, const StreamSum& b) {
  StreamSum all = a.terms_.size() >= b.terms_.size() ? a : b;
  const StreamSum& other = a.terms_.size() >= b.terms_.size() ? b : a;
  for (std::size_t i = 0; i < other.terms_.size(); ++i) all.terms_[i] += other.terms_[i];
  return all;
}

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
