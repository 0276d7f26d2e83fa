// Classifier: one class for a sequence of tokens.
#pragma once

#include "addnorm/model/model.h"

namespace addnorm {

/// One vector of each sequence of x [batch, tokens, d]: that of token 0, or the mean over its first lengths[b] tokens. Joined: x
/// is [1, tokens, d], and the sequences of these lengths lie in it one after another.
Var pooled(const Var& x, Pooling pooling, const std::vector<std::size_t>& lengths, bool joined = false);

/// Logits [batch, classes] of token sequences.
class Classifier : public Model {
 public:
  explicit Classifier(const ModelConfig& config, Start start = Start::drawn);

  Var operator()(const Tokens& tokens, const Pass& pass = {}, StreamObserver* observer = nullptr) const;
  /// Logits of what comes out of the stack, [batch, tokens, d_model].
  Var head(const Var& y, const std::vector<std::size_t>& lengths) const { return out_(pooled(y, config().pooling, lengths)); }
  Stack& stack() { return stack_; }

  std::vector<Stack*> stacks() override { return {&stack_}; }
  Var body(const ModelInput& input, const Pass& pass, const StreamObservers& watch = {}) const override;
  bool has_linear_head() const override { return true; }
  Var head(const ModelInput& input, const Var& y) const override;
  void visit(Visitor& visitor) override;
  std::optional<Distribution> init(const Parameter& parameter, const Part& part) const override;

 private:
  TokenInput tokens_;
  Stack stack_;
  Linear out_;
};

}  // namespace addnorm
