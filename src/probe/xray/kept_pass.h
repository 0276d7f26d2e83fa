// A pass over a batch that can be run again from any layer on, and what an output that is changed so costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "addnorm/model/stack.h"
#include "addnorm/probe/xray.h"
#include "addnorm/train/objective.h"
#include "probe/measures/measures.h"

namespace addnorm {

/// Model::stacks() in the order in which they run: one, or encoder and decoder. A UsageError names the kind of a model without.
std::vector<Stack*> stacks_to_look_into(Model& model);

/// One forward pass without dropout, with the state of every stream before each of its layers. A cut pass then begins at the
/// layer of its cut: for a stack of K units all by-passes together cost K / 2 passes, all lenses 1.5, heads not counted. The same
/// bits as passes from the beginning. The model and the batch outlive it; all of it belongs to the ArenaScope it is made in.
class KeptPass {
 public:
  /// `watch` hears the pass itself, stack by stack; none of them need be there.
  KeptPass(Model& model, const Batch& batch, const std::vector<StreamObserver*>& watch = {});

  const Var& output() const { return outputs_.back(); }  ///< of the last stack, before its head
  const Var& logits() const { return logits_; }          ///< undefined for a model without a head

  /// The last stack's output with these units of stack number `stack` by-passed; none: as it is.
  Var without(std::size_t stack, const std::vector<std::size_t>& units) const;
  /// The same with that stack ending after its first `units` units, with its usual exit.
  Var ended(std::size_t stack, std::size_t units) const;

 private:
  Var rest(std::size_t stack, const Stream::State& before, std::size_t layer, const Cut& cut) const;
  void check_body(const Var& y) const;
  StackInput input_of_stack(std::size_t stack) const;
  Pass pass_of(std::size_t stack, const Cut& cut) const;

  Model& model_;
  ModelInput input_;  // refers to the batch
  std::vector<Stack*> stacks_;
  std::vector<std::vector<Stream::State>> states_;  // of each stack, before each layer
  std::vector<Var> outputs_;                        // of each stack
  Var logits_;
};

/// What comes out of the last stack, and what the head makes of it.
struct XrayOutput {
  Var y;
  Tensor logits{};                     ///< [rows, classes]; undefined where there is no head
  std::vector<std::int32_t> labels{};  ///< of these rows
};

/// What a changed output costs: nats per label, or a distance of the embedding.
class XrayCost {
 public:
  XrayCost(Model& model, Pooling pooling);

  XrayMeasure measure() const { return measure_; }
  /// One head product. Where most rows have no label (masked tokens) the head reads only the others.
  XrayOutput read(const Batch& batch, const Var& y) const;
  /// Of `now`, where it should be `as_is` (read only for embeddings). The sum is over labels, or sequences.
  RunningMean of(const Batch& batch, const XrayOutput& as_is, const XrayOutput& now) const;

 private:
  const Model& model_;
  Pooling pooling_;
  XrayMeasure measure_;
};

}  // namespace addnorm
