// Residual: the module that owns what an arrangement adds to a stack, and knows all that follows from the choice.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "addnorm/nn/init.h"
#include "addnorm/nn/norm.h"
#include "addnorm/nn/pass.h"
#include "addnorm/residual/arrangement.h"
#include "addnorm/residual/stream.h"

namespace addnorm {

/// Choices beside the arrangement; nothing said: what the arrangement says.
struct ResidualOptions {
  NormKindOptions norm{};
  std::optional<bool> final_norm{};
  std::optional<bool> embedding_norm{};  ///< a norm of the stack's input
  float dropout = 0;                     ///< of branches, where they are added
};

/// What an arrangement wants of the sub-layer that the model builds.
struct BranchOptions {
  NormKindOptions inner_norm{.formula = NormFormula::none};
  HeadGain head_gain = HeadGain::none;
};

class Residual : public Module {
 public:
  /// A new stream over x0 [B, T, width]. The observer and the Residual outlive it.
  std::unique_ptr<Stream> open(const Var& x0, const Pass& pass, StreamObserver* observer = nullptr) const;
  virtual BranchOptions branch(const Unit& unit) const;
  /// From what a parameter of the stack's sub-layers is drawn; its place names layer and sub-layer. By the arrangement's init.
  virtual std::optional<Distribution> init(const Parameter& parameter, const Part& part) const;

  const StackShape& shape() const { return shape_; }
  const Arrangement& arrangement() const { return arrangement_; }
  const ResidualOptions& options() const { return options_; }
  /// Of the unit's branch in this pass; the mask is that of (seed, step, stack, layer, sub-layer, row).
  DropoutSpec dropout(const Unit& unit, const Pass& pass) const;

 protected:
  Residual(Arrangement arrangement, StackShape shape, ResidualOptions options);
  Norm norm_if(bool there) const { return there ? Norm(options_.norm, shape_.width) : Norm(); }
  virtual std::unique_ptr<Stream> do_open(const Var& x0, const Pass& pass, StreamObserver* observer) const = 0;

 private:
  Arrangement arrangement_;
  StackShape shape_;
  ResidualOptions options_;
};

/// By name or alias; an unknown one is a UsageError with the nearest and the list.
std::unique_ptr<Residual> make_residual(std::string_view name, const StackShape& shape, const ResidualOptions& options = {});
/// A row of one's own.
std::unique_ptr<Residual> make_residual(const Arrangement& row, const StackShape& shape, const ResidualOptions& options = {});

}  // namespace addnorm
