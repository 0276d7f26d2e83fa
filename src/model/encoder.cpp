#include "addnorm/model/encoder.h"

namespace addnorm {

Encoder::Encoder(const ModelConfig& given, Start start)
    : Model(given, ModelKind::encoder),
      tokens_(config(), config().vocab, "tokens"),
      stack_(config(), StackKind::encoder_only),
      head_(config().head ? Head(config(), config().vocab) : Head()) {
  if (start == Start::drawn) draw(1);
}

Var Encoder::operator()(const Tokens& tokens, const Pass& pass, StreamObserver* observer) const {
  return body({.tokens = tokens}, pass, {.stream = observer});
}

Var Encoder::body(const ModelInput& input, const Pass& pass, const StreamObservers& watch) const {
  const Tokens& tokens = input.tokens;
  const Pass own = stack_.pass_for(pass, tokens);
  return stack_(tokens_(tokens, own), {.lengths = tokens.lengths, .joined = tokens.joined, .observer = watch.stream}, own);
}

Var Encoder::logits(const Tokens& tokens, const Pass& pass, StreamObserver* observer) const {
  return logits({.tokens = tokens}, pass, {.stream = observer});
}

Var Encoder::logits(const ModelInput& input, const Pass& pass, const StreamObservers& watch) const {
  require(config().head, "Encoder: this model was made with head = false; it gives vectors, not logits");
  return head(body(input, pass, watch));
}

std::optional<Distribution> Encoder::init(const Parameter& parameter, const Part& part) const {
  return stack_.residual().init(parameter, part);
}

void Encoder::visit(Visitor& visitor) {
  visitor.child("tokens", tokens_);
  visitor.child("", stack_);
  if (config().head) visitor.child("head", head_);
}

}  // namespace addnorm
