// Encoder: tokens to vectors, each of which has seen all tokens.
#pragma once

#include "addnorm/model/model.h"

namespace addnorm {

/// Tokens to vectors [batch, tokens, d_model]; logits() of every token where the config has a head.
class Encoder : public Model {
 public:
  explicit Encoder(const ModelConfig& config, Start start = Start::drawn);

  Var operator()(const Tokens& tokens, const Pass& pass = {}, StreamObserver* observer = nullptr) const;
  Var logits(const Tokens& tokens, const Pass& pass = {}, StreamObserver* observer = nullptr) const;
  Var head(const Var& y) const { return head_(y, tokens_.table()); }  ///< logits of what comes out of the stack
  Stack& stack() { return stack_; }

  std::vector<Stack*> stacks() override { return {&stack_}; }
  Var body(const ModelInput& input, const Pass& pass, const StreamObservers& watch = {}) const override;
  bool has_head() const override { return config().head; }
  bool has_linear_head() const override { return config().head && !config().head_transform; }
  Var head(const ModelInput&, const Var& y) const override { return head(y); }
  Var logits(const ModelInput& input, const Pass& pass = {}, const StreamObservers& watch = {}) const override;
  void visit(Visitor& visitor) override;
  std::optional<Distribution> init(const Parameter& parameter, const Part& part) const override;

 private:
  TokenInput tokens_;
  Stack stack_;
  Head head_;
};

}  // namespace addnorm
