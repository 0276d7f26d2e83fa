// Mlp: a residual stack without attention, over rows of numbers.
#pragma once

#include "addnorm/model/model.h"

namespace addnorm {

/// Logits [batch, classes] of rows of numbers [batch, features]: W_in x, a stack of feed-forward units, W_out.
class Mlp : public Model {
 public:
  explicit Mlp(const ModelConfig& config, Start start = Start::drawn);

  Var operator()(const Var& x, const Pass& pass = {}, StreamObserver* observer = nullptr) const;
  Var head(const Var& y) const { return out_(y); }  ///< logits of what comes out of the stack
  Stack& stack() { return stack_; }

  std::vector<Stack*> stacks() override { return {&stack_}; }
  Var body(const ModelInput& input, const Pass& pass, const StreamObservers& watch = {}) const override;
  bool has_linear_head() const override { return true; }
  Var head(const ModelInput&, const Var& y) const override { return head(y); }
  void visit(Visitor& visitor) override;
  std::optional<Distribution> init(const Parameter& parameter, const Part& part) const override;

 private:
  Var stream_out(const Var& x, const Pass& pass, StreamObserver* observer) const;

  Linear in_;
  Stack stack_;
  Linear out_;
};

}  // namespace addnorm
