// The predicted skip gain of classes. A stream is written as a sum of independent terms of variance 1, the stack's input first
// and then every branch: its gain is the first coefficient, its variance the sum of the squares.
#include <array>
#include <cmath>
#include <numeric>

#include "addnorm/residual/catalogue.h"
#include "residual/explain/class_texts.h"

namespace addnorm {
namespace {

class Sum {
 public:
  static Sum input() { return Sum({1}); }

  double variance() const { return std::inner_product(terms_.begin(), terms_.end(), terms_.begin(), 0.0); }
  double gain() const { return terms_.front(); }
  Sum normed() const { return times(1 / std::sqrt(variance())); }
  Sum times(double factor) const {
    Sum all = *this;
    for (double& term : all.terms_) term *= factor;
    return all;
  }
  /// With an independent term that no other sum has: term `index` of the stack.
  Sum with(std::size_t index, double deviation) const {
    Sum all = *this;
    all.terms_.resize(std::max(all.terms_.size(), index + 1));
    all.terms_[index] += deviation;
    return all;
  }
  friend Sum operator+(const Sum& a, const Sum& b) {
    Sum all = a.terms_.size() >= b.terms_.size() ? a : b;
    const Sum& other = a.terms_.size() >= b.terms_.size() ? b : a;
    for (std::size_t i = 0; i < other.terms_.size(); ++i) all.terms_[i] += other.terms_[i];
    return all;
  }

 private:
  explicit Sum(std::vector<double> terms) : terms_(std::move(terms)) {}
  std::vector<double> terms_;
};

/// The deviation of a unit's branch, which reads something of variance 1.
struct Branches {
  const Arrangement& row;
  const StackShape& shape;
  NormalInit init;
  double operator()(const Unit& unit) const { return branch_gain(row, shape, unit, init); }
};

Sum b2t(const StackShape& shape, const Branches& s) {
  Sum x = Sum::input();
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    const Sum bottom = x;
    for (std::size_t i = 0; i < shape.sub_layers.size(); ++i) {
      const Unit unit = shape.unit(layer, i);
      const Sum skip = unit.last_in_layer ? bottom + x : x;
      x = skip.with(unit.index + 1, s(unit)).normed();
    }
  }
  return x;
}

Sum resi_dual(const StackShape& shape, const Branches& s) {
  const ArrangementChoices& choices = s.row.choices;
  Sum x = Sum::input(), r = x;
  for (std::size_t i = 0; i < shape.units(); ++i) {
    const double deviation = s(shape.unit(i));
    r = r.with(i + 1, deviation);
    x = x.with(i + 1, deviation).normed();
  }
  return x.times(choices.stream_share.value_or(1)) + r.normed();  // the scale of r goes in its norm
}

Sum rskip(const StackShape& shape, const Branches& s) {
  Sum x = Sum::input();
  const std::size_t recursions = s.row.choices.recursions.value_or(kPublishedRecursions);
  for (std::size_t i = 0; i < shape.units(); ++i) {
    Sum y = x.with(i + 1, s(shape.unit(i))).normed();
    for (std::size_t k = 1; k < recursions; ++k) y = (x + y).normed();
    x = y;
  }
  return x;
}

/// parallel, parallel-2ln, and denseformer as it starts.
Sum pre_ln(const StackShape& shape, const Branches& s) {
  Sum x = Sum::input();
  for (std::size_t i = 0; i < shape.units(); ++i) x = x.with(i + 1, s(shape.unit(i)));
  return x.normed();
}

Sum dlcl(const StackShape& shape, const Branches& s, bool pre) {
  std::vector<Sum> outputs{Sum::input()};
  const auto mix = [&] {
    Sum all = outputs.front();
    for (std::size_t k = 1; k < outputs.size(); ++k) all = all + outputs[k];
    all = all.times(1 / static_cast<double>(outputs.size()));
    return pre || outputs.size() == 1 ? all : all.normed();
  };
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    Sum x = mix();
    for (std::size_t i = 0; i < shape.sub_layers.size(); ++i) {
      const Unit unit = shape.unit(layer, i);
      x = x.with(unit.index + 1, s(unit));
      if (!pre) x = x.normed();
    }
    outputs.push_back(pre ? x.normed() : x);
  }
  return mix();
}

Sum dlcl_pre(const StackShape& shape, const Branches& s) { return dlcl(shape, s, true); }
Sum dlcl_post(const StackShape& shape, const Branches& s) { return dlcl(shape, s, false); }

struct Gain {
  const char* name;
  Sum (*of)(const StackShape&, const Branches&);
};
constexpr std::array kGains{
    Gain{"b2t", b2t},         Gain{"denseformer", pre_ln},  Gain{"dlcl-post", dlcl_post}, Gain{"dlcl-pre", dlcl_pre},
    Gain{"parallel", pre_ln}, Gain{"parallel-2ln", pre_ln}, Gain{"resi-dual", resi_dual}, Gain{"rskip", rskip}};

}  // namespace

SkipGain class_skip_gain(const Arrangement& row, const StackShape& shape, NormalInit init) {
  for (const Gain& gain : kGains)
    if (row.name == gain.name) {
      const Sum out = gain.of(shape, {row, shape, init});
      return {out.gain(), std::sqrt(out.variance())};
    }
  class_text(row.name);  // says that there is no such class
  return {};
}

}  // namespace addnorm
