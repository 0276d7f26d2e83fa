// EncoderDecoder: one sequence read, another one written.
#pragma once

#include "addnorm/model/generate.h"
#include "addnorm/model/model.h"

namespace addnorm {

/// Two stacks: the decoder's cross-attention reads what comes out of the encoder.
class EncoderDecoder : public Model {
 public:
  explicit EncoderDecoder(const ModelConfig& config, Start start = Start::drawn);

  /// The encoder's exit, [batch, source tokens, d_model].
  Var encode(const Tokens& source, const Pass& pass = {}, StreamObserver* observer = nullptr) const;
  /// Logits [batch, target tokens, target_vocab] of each next target token.
  Var operator()(const Tokens& source, const Tokens& target, const Pass& pass = {}, StreamObserver* of_encoder = nullptr,
                 StreamObserver* of_decoder = nullptr) const;
  Var head(const Var& y) const { return head_(y, target_table()); }  ///< logits of what comes out of the decoder
  Stack& encoder() { return encoder_; }
  Stack& decoder() { return decoder_; }

  std::vector<Stack*> stacks() override { return {&encoder_, &decoder_}; }
  Var body(const ModelInput& input, const Pass& pass, const StreamObservers& watch = {}) const override;
  bool has_linear_head() const override { return !config().head_transform; }
  Var head(const ModelInput&, const Var& y) const override { return head(y); }
  /// Empty targets of these sources. The model outlives it and stays where it is.
  std::unique_ptr<Decoding> decoding(const Tokens& source, bool cached = true) const;
  void visit(Visitor& visitor) override;
  std::optional<Distribution> init(const Parameter& parameter, const Part& part) const override;

 private:
  friend class EncoderDecoderDecoding;
  Var decode(const Tokens& target, StackInput input, const Pass& pass) const;
  const Embedding& target_table() const;

  TokenInput source_, target_;
  Stack encoder_, decoder_;
  Head head_;
};

}  // namespace addnorm
