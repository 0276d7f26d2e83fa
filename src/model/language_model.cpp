#include "addnorm/model/language_model.h"

#include "addnorm/autograd/tape.h"
#include "model/generate/decodings.h"

namespace addnorm {

LanguageModel::LanguageModel(const ModelConfig& given, Start start)
    : Model(given, ModelKind::lm),
      tokens_(config(), config().vocab, "tokens"),
      stack_(config(), StackKind::decoder_only),
      head_(config(), config().vocab) {
  if (start == Start::drawn) draw(1);
}

Var LanguageModel::operator()(const Tokens& tokens, const Pass& pass, StreamObserver* observer) const {
  return logits({.tokens = tokens}, pass, {.stream = observer});
}

Var LanguageModel::body(const ModelInput& input, const Pass& pass, const StreamObservers& watch) const {
  const Tokens& tokens = input.tokens;
  const Pass own = stack_.pass_for(pass, tokens);
  return stack_(tokens_(tokens, own), {.lengths = tokens.lengths, .joined = tokens.joined, .observer = watch.stream}, own);
}

std::optional<Distribution> LanguageModel::init(const Parameter& parameter, const Part& part) const {
  return stack_.residual().init(parameter, part);
}

void LanguageModel::visit(Visitor& visitor) {
  visitor.child("tokens", tokens_);
  visitor.child("", stack_);
  visitor.child("head", head_);
}

class LanguageModelDecoding final : public Decoding {
 public:
  LanguageModelDecoding(const LanguageModel& model, std::size_t rows) : model_(model), rows_(rows) {
    cache_ = model.stack_.cache(rows, model.config().seq_len);
  }
  Tensor append(std::span<const std::int32_t> tokens) override {
    const NoGrad no_grad;
    const Var x = model_.tokens_({.ids = tokens, .batch = rows_}, {}, cache_.length);
    const Var y = model_.stack_(x, {.cache = &cache_}, {});
    return model_.head_(Var(last_token(y.value())), model_.tokens_.table()).value();
  }
  void select(std::span<const std::size_t> from) override {
    check_rows(from, rows_);
    cache_.select(from);
    rows_ = from.size();
  }
  std::size_t rows() const override { return rows_; }
  std::size_t room() const override { return model_.config().seq_len - cache_.length; }

 private:
  const LanguageModel& model_;
  std::size_t rows_;
  StackCache cache_;
};

std::unique_ptr<Decoding> LanguageModel::decoding(std::size_t rows, bool cached) const {
  require(rows > 0, "decoding: rows is 0; at least one sequence is needed");
  if (cached) return std::make_unique<LanguageModelDecoding>(*this, rows);
  return std::make_unique<PrefixDecoding>(rows, config().seq_len, [this](const Tokens& prefix, std::span<const std::size_t>) {
    const Var x = tokens_(prefix, {});
    return head_(Var(last_token(stack_(x, {}, {}).value())), tokens_.table()).value();
  });
}

}  // namespace addnorm
