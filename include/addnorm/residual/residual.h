// Residual: the module that owns what an arrangement adds to a stack, and knows all that follows from the choice.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "addnorm/nn/init.h"
#include "addnorm/nn/norm.h"
#include "addnorm/nn/pass.h"
#include "addnorm/residual/arrangement.h"
#include "addnorm/residual/choices.h"
#include "addnorm/residual/stream.h"

namespace addnorm {

/// Choices beside the arrangement; nothing said: what the arrangement says.
struct ResidualOptions {
  NormKindOptions norm{};
  std::optional<bool> final_norm{};
  std::optional<bool> embedding_norm{};  ///< a norm of the stack's input
  float dropout = 0;                     ///< of branches, where they are added
  ArrangementChoices choices{};          ///< what only some arrangements have
  InitOptions init{};                    ///< how matrices start
};

/// The row that runs: `row` with its choices, its final norm and the norm of its input as the options say. A UsageError where
/// they do not fit it: a choice it does not have, a kind of norm where it has no norm at all.
Arrangement with_options(const Arrangement& row, const ResidualOptions& options);

/// What an arrangement wants of the sub-layer that the model builds.
struct BranchOptions {
  NormKindOptions inner_norm{.formula = NormFormula::none};
  HeadGain head_gain = HeadGain::none;
};

class Residual : public Module {
 public:
  /// A new stream over x0 [B, T, width]. The observer and the Residual outlive it.
  std::unique_ptr<Stream> open(const Var& x0, const Pass& pass, StreamObserver* observer = nullptr) const;
  /// A stream that stands where another one of the same pass stood between two layers: how recompute runs a layer again.
  std::unique_ptr<Stream> resume(const Stream::State& state, const Pass& pass, StreamObserver* observer = nullptr) const;
  virtual BranchOptions branch(const Unit& unit) const;
  /// From what a parameter of the stack's sub-layers is drawn; its place names layer and sub-layer. By the arrangement's init.
  virtual std::optional<Distribution> init(const Parameter& parameter, const Part& part) const;

  /// Some coefficients are measured before the first training step: calibrate() once then, never again (they are saved).
  virtual bool needs_calibration() const { return false; }
  /// `run` runs one forward pass in training mode over one batch, and hands the observer to open(). Nothing to do for most;
  /// Admin fills the skip's coefficients, in the order of units and within that one pass:
  ///
  ///   ω_1 = 1,   ω_{i+1} = sqrt( Var(ω_i x_{i-1}) + Var(f_i) )
  ///
  /// Variances are over every element of the batch, f_i is the branch as it is added, and ω_i is in place before unit i adds:
  /// x_i = N(ω_i x_{i-1} + f_i). Units of a row that are not profiled are passed over. Two stacks have a value each. When `run`
  /// throws or leaves a unit out, all is as before.
  virtual void calibrate(const std::function<void(StreamObserver*)>& run);

  const StackShape& shape() const { return shape_; }
  const Arrangement& arrangement() const { return arrangement_; }
  const ResidualOptions& options() const { return options_; }
  /// Of the unit's branch in this pass; the mask is that of (seed, step, stack, layer, sub-layer, row).
  DropoutSpec dropout(const Unit& unit, const Pass& pass) const;

 protected:
  Residual(Arrangement arrangement, StackShape shape, ResidualOptions options);
  Norm norm_if(bool there) const { return there ? Norm(options_.norm, shape_.width) : Norm(); }
  virtual std::unique_ptr<Stream> do_open(const Pass& pass, StreamObserver* observer) const = 0;

 private:
  Arrangement arrangement_;
  StackShape shape_;
  ResidualOptions options_;
};

/// By name or alias; an unknown one is a UsageError with the nearest and the list.
std::unique_ptr<Residual> make_residual(std::string_view name, const StackShape& shape, const ResidualOptions& options = {});
/// Of your own row.
std::unique_ptr<Residual> make_residual(const Arrangement& row, const StackShape& shape, const ResidualOptions& options = {});

}  // namespace addnorm
