#include "addnorm/model/classifier.h"

namespace addnorm {

namespace {

Var pooled_runs(const Var& x, Pooling pooling, const std::vector<std::size_t>& lengths) {
  if (pooling == Pooling::mean) return segment_means(x, lengths);
  std::vector<std::int32_t> first;
  std::size_t row = 0;
  for (const std::size_t length : lengths) {
    first.push_back(static_cast<std::int32_t>(row));
    row += length;
  }
  return embedding(reshape(x, {x.shape()[1], x.shape()[2]}), first);
}

}  // namespace

/// The mean is attention in which every score is 0: the same weight for each token that is not padding.
Var pooled(const Var& x, Pooling pooling, const std::vector<std::size_t>& lengths, bool joined) {
  require(x.defined() && x.shape().rank() == 3, "pooled: x is ", x.defined() ? x.shape().text() : "undefined",
          "; [batch, tokens, width] is needed");
  if (joined) return pooled_runs(x, pooling, lengths);
  const std::size_t batch = x.shape()[0], tokens = x.shape()[1], width = x.shape()[2];
  if (pooling == Pooling::first) return reshape(tokens == 1 ? x : split(x, {1, tokens - 1}, 1)[0], {batch, width});
  const Var query(Tensor::zeros({batch, 1, 1}, x.dtype())), keys(Tensor::zeros({batch, tokens, 1}, x.dtype()));
  return reshape(attention(query, keys, x, {.key_lengths = lengths}), {batch, width});
}

Classifier::Classifier(const ModelConfig& given, Start start)
    : Model(given, ModelKind::classifier),
      tokens_(config(), config().vocab, "tokens"),
      stack_(config(), StackKind::encoder_only),
      out_(config().d_model, config().classes, Role::head) {
  if (start == Start::drawn) draw(1);
}

Var Classifier::operator()(const Tokens& tokens, const Pass& pass, StreamObserver* observer) const {
  return logits({.tokens = tokens}, pass, {.stream = observer});
}

Var Classifier::body(const ModelInput& input, const Pass& pass, const StreamObservers& watch) const {
  const Tokens& tokens = input.tokens;
  const Pass own = stack_.pass_for(pass, tokens);
  return stack_(tokens_(tokens, own), {.lengths = tokens.lengths, .joined = tokens.joined, .observer = watch.stream}, own);
}

Var Classifier::head(const ModelInput& input, const Var& y) const {
  return out_(pooled(y, config().pooling, input.tokens.lengths, input.tokens.joined));
}

std::optional<Distribution> Classifier::init(const Parameter& parameter, const Part& part) const {
  return stack_.residual().init(parameter, part);
}

void Classifier::visit(Visitor& visitor) {
  visitor.child("tokens", tokens_);
  visitor.child("", stack_);
  visitor.child("out", out_);
}

}  // namespace addnorm
