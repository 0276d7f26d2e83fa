// What the classes of arrangements share.
#pragma once

#include <memory>
#include <vector>

#include "residual/class_arrangement.h"

namespace addnorm {

/// Self opens streams of type S, made of (Self, pass, observer).
template <class Self, class S>
class ResidualOf : public Residual {
 protected:
  using Residual::Residual;

 private:
  std::unique_ptr<Stream> do_open(const Pass& pass, StreamObserver* observer) const final {
    return std::make_unique<S>(static_cast<const Self&>(*this), pass, observer);
  }
};

/// One norm per unit of a stack; several with `each` more than 1.
class UnitNorms : public Module {
 public:
  UnitNorms(const NormKindOptions& norm, const StackShape& shape, std::size_t each = 1) : shape_(shape), each_(each) {
    for (std::size_t i = 0; i < shape.units() * each; ++i)
      norms_.emplace_back(norm, shape.width);  // copies would share parameters
  }
  const Norm& operator()(const Unit& unit, std::size_t which = 0) const {
    check(shape_, unit);
    return norms_[unit.index * each_ + which];
  }
  void visit(Visitor& visitor) override {
    for (std::size_t i = 0; i < norms_.size(); ++i) {
      const Unit unit = shape_.unit(i / each_);
      const std::string name = each_ == 1 ? "norm" : concat("norm.", i % each_);
      visitor.child(concat(path_of(shape_, unit), ".", name), norms_[i], {.layer = unit.layer, .sub_layer = unit.sub_layer});
    }
  }

 private:
  StackShape shape_;
  std::size_t each_;
  std::vector<Norm> norms_;
};

/// Norms of units, of the stack's input and of its end: all that most classes own.
template <class Self, class S>
class NormedResidualOf : public ResidualOf<Self, S> {
 public:
  void visit(Visitor& visitor) override {
    visitor.child("entry", entry);
    visitor.child("", norms);
    visitor.child("exit", exit);
  }
  UnitNorms norms;
  Norm entry, exit;

 protected:
  NormedResidualOf(const Arrangement& row, const StackShape& shape, const ResidualOptions& options, UnitNorms of_units)
      : ResidualOf<Self, S>(row, shape, options),
        norms(std::move(of_units)),
        entry(this->norm_if(row.entry)),
        exit(this->norm_if(row.exit)) {}
};

}  // namespace addnorm
