// Recursive skip (Liu F. et al. 2020): the skip is added and normed again, so that its share grows.
//
//   y_0 = f,   y_k = N_k(x + y_{k-1}),   x' = y_λ;   λ = 1 is post-ln
#include <array>

#include "residual/streams/classes.h"

namespace addnorm {
namespace {

class RskipStream;

class Rskip final : public NormedResidualOf<Rskip, RskipStream> {
 public:
  Rskip(const Arrangement& row, const StackShape& shape, const ResidualOptions& options)
      : NormedResidualOf(row, shape, options, UnitNorms(options.norm, shape, is_shared(row) ? 1 : recursions_of(row))),
        recursions(recursions_of(row)),
        shared(is_shared(row)) {}
  std::size_t recursions;  // λ
  bool shared;

 private:
  static std::size_t recursions_of(const Arrangement& row) { return row.choices.recursions.value_or(kPublishedRecursions); }
  static bool is_shared(const Arrangement& row) { return row.choices.shared_norms.value_or(false); }
};

class RskipStream final : public Stream {
 public:
  RskipStream(const Rskip& residual, const Pass& pass, StreamObserver* observer)
      : Stream(observer), residual_(residual), pass_(pass) {}
  State state() const override { return {{x_}, std::nullopt}; }
  void restore(const State& state) override { x_ = state.vars.at(0); }

 private:
  void do_begin(const Var& x0) override {
    x_ = residual_.entry(x0, pass_);
    announce_stream(nullptr, x_);
  }
  Var do_read(const Unit& unit) override {
    check(residual_.shape(), unit);
    const Parted part = parted(unit, x_);
    x_ = part.skip;
    return part.branch;
  }
  void do_write(const Unit& unit, const Var& f) override {
    check(residual_.shape(), unit);
    Var y = dropped(f, residual_.dropout(unit, pass_));
    announce_branch(unit, y);
    for (std::size_t k = 0; k < residual_.recursions; ++k)
      y = residual_.norms(unit, residual_.shared ? 0 : k).add(x_, y, {}, {}, {}, pass_).y;
    x_ = y;
    announce_stream(&unit, x_);
  }
  Var do_close() override { return residual_.exit(x_, pass_); }

  const Rskip& residual_;
  Pass pass_;
  Var x_;
};

std::string subscript(std::size_t number) {
  constexpr std::array kDigits{"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string all;
  for (const char digit : std::to_string(number)) all += kDigits.at(static_cast<std::size_t>(digit - '0'));
  return all;
}

}  // namespace

std::vector<ClassArrangement> rskip_classes() {
  return {{.row = {.name = "rskip",
                   .source = "Liu F. et al., arXiv 2105.07205",
                   .year = 2020,
                   .used_by = "its authors",
                   .failure = "two norms per unit",
                   .aliases = {"recursive-skip"},
                   .text = "x' = N_2(x + N_1(x + F(x)))"},
           .make = class_maker<Rskip>,
           .said = {.norms = kPublishedRecursions},
           .choose =
               [](ClassText& text, const ArrangementChoices& choices) {
                 text.norms = choices.shared_norms.value_or(false) ? 1 : choices.recursions.value_or(kPublishedRecursions);
               },
           .gain =
               [](const StackShape& shape, const BranchDeviation& s) {
                 StreamSum x = StreamSum::input();
                 const std::size_t recursions = s.row.choices.recursions.value_or(kPublishedRecursions);
                 for (std::size_t i = 0; i < shape.units(); ++i) {
                   StreamSum y = x.with(i + 1, s(shape.unit(i))).normed();
                   for (std::size_t k = 1; k < recursions; ++k) y = (x + y).normed();
                   x = y;
                 }
                 return x;
               },
           .draw =
               [](const Drawer& draw, const ArrangementChoices& choices) {
                 const std::size_t recursions = choices.recursions.value_or(kPublishedRecursions);
                 const bool one_norm = choices.shared_norms.value_or(false) || recursions == 1;
                 return draw.each_unit([&](const Unit& unit) {
                   Drawer::Steps y = draw.branch(unit);
                   for (std::size_t k = 1; k <= recursions; ++k)
                     y = Drawer::joined(Drawer::sum({{}, y}), draw.norm(true, one_norm ? "" : subscript(k)));
                   return y;
                 });
               }}};
}

}  // namespace addnorm
