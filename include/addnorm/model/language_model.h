// LanguageModel: a decoder that predicts the next token.
#pragma once

#include "addnorm/model/generate.h"
#include "addnorm/model/model.h"

namespace addnorm {

/// Decoder only: logits [batch, tokens, vocab] of each next token.
class LanguageModel : public Model {
 public:
  explicit LanguageModel(const ModelConfig& config, Start start = Start::drawn);

  Var operator()(const Tokens& tokens, const Pass& pass = {}, StreamObserver* observer = nullptr) const;
  /// Empty sequences to be continued. With a cache a step costs one token; without, the whole prefix again. The model outlives it
  /// and stays where it is.
  std::unique_ptr<Decoding> decoding(std::size_t rows, bool cached = true) const;
  Var head(const Var& y) const { return head_(y, tokens_.table()); }  ///< logits of what comes out of the stack
  Stack& stack() { return stack_; }

  std::vector<Stack*> stacks() override { return {&stack_}; }
  Var body(const ModelInput& input, const Pass& pass, const StreamObservers& watch = {}) const override;
  bool has_linear_head() const override { return !config().head_transform; }
  Var head(const ModelInput&, const Var& y) const override { return head(y); }
  void visit(Visitor& visitor) override;
  std::optional<Distribution> init(const Parameter& parameter, const Part& part) const override;

 private:
  friend class LanguageModelDecoding;
  TokenInput tokens_;
  Stack stack_;
  Head head_;
};

}  // namespace addnorm
