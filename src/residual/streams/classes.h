// Arrangements that are more than a row: what their classes share, and how each is made.
#pragma once

#include <memory>
#include <vector>

#include "addnorm/residual/residual.h"

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
  UnitNorms(const NormKindOptions& norm, const StackShape& shape, std::size_t each = 1);
  const Norm& operator()(const Unit& unit, std::size_t which = 0) const {
    check(shape_, unit);
    return norms_[unit.index * each_ + which];
  }
  void visit(Visitor& visitor) override;

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

/// Makes the class of this name; null where the catalogue has a row, or nothing.
ResidualFactory class_named(const std::string& name);

std::unique_ptr<Residual> make_b2t(const Arrangement&, const StackShape&, const ResidualOptions&);
std::unique_ptr<Residual> make_denseformer(const Arrangement&, const StackShape&, const ResidualOptions&);
std::unique_ptr<Residual> make_dlcl_post(const Arrangement&, const StackShape&, const ResidualOptions&);
std::unique_ptr<Residual> make_dlcl_pre(const Arrangement&, const StackShape&, const ResidualOptions&);
std::unique_ptr<Residual> make_parallel(const Arrangement&, const StackShape&, const ResidualOptions&);
std::unique_ptr<Residual> make_parallel_2ln(const Arrangement&, const StackShape&, const ResidualOptions&);
std::unique_ptr<Residual> make_resi_dual(const Arrangement&, const StackShape&, const ResidualOptions&);
std::unique_ptr<Residual> make_rskip(const Arrangement&, const StackShape&, const ResidualOptions&);

}  // namespace addnorm
