// Finds the first value of a residual stream that is not finite, after any other observer of it.
#pragma once

#include "addnorm/core/error.h"
#include "addnorm/residual/stream.h"
#include "train/optimizer/base.h"

namespace addnorm {

/// Passes everything on to `next` (may be null), then looks at it: NumericsError names the unit by its layer.
class StreamCheck final : public StreamObserver {
 public:
  StreamCheck(StreamObserver* next, std::string stack) : next_(next), stack_(std::move(stack)) {}

  void on_branch(const Unit& unit, const Var& added) override {
    if (next_) next_->on_branch(unit, added);
    look(added, "the branch of ", &unit);
  }
  void on_stream(const Unit* unit, const Var& x) override {
    if (next_) next_->on_stream(unit, x);
    look(x, "the stream after ", unit);
  }
  void on_parting(const Unit& unit, const Var& whole, const Var& skip, const Var& branch) override {
    if (next_) next_->on_parting(unit, whole, skip, branch);
  }
  void on_output(const Var& y) override {
    if (next_) next_->on_output(y);
  }
  void on_attention(const Unit& unit, const AttentionScores& scores) override {
    if (next_) next_->on_attention(unit, scores);
  }

 private:
  void look(const Var& x, const char* what, const Unit* unit) const {
    BadValue bad = first_bad_value(x.value());
    if (bad.count == 0) return;
    bad.path = concat(what, stack_, unit ? concat("layers.", unit->layer, "/", name_of(unit->sub_layer)) : "the embedding");
    throw NumericsError(describe(bad));
  }

  StreamObserver* next_;
  std::string stack_;  // "decoder/", or empty
};

}  // namespace addnorm
