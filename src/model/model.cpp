#include "addnorm/model/model.h"

#include "addnorm/model/classifier.h"
#include "addnorm/model/encoder.h"
#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/language_model.h"
#include "addnorm/model/mlp.h"

namespace addnorm {

Model::Model(const ModelConfig& config, ModelKind kind) : config_(completed(config)) {
  require(config.model == kind, "the config is of a model of kind ", name_of(config.model), ", but ", name_of(kind),
          " is made of it; use make_model(), or another class");
}

void Model::initialise(std::uint64_t seed) {
  addnorm::initialise(
      *this, [this](const Parameter& parameter, const Part& part) { return init(parameter, part); }, seed);
}

Head::Head(const ModelConfig& config, std::size_t vocabulary) : tied_(config.tied) {
  if (!tied_) linear_ = Linear(config.d_model, vocabulary, Role::head, config.head_bias);
  if (tied_ && config.head_bias) bias_ = Var(Tensor::zeros({vocabulary}), true);
}

Var Head::operator()(const Var& x, const Embedding& table) const {
  if (!tied_) return linear_(x);
  const Var y = table.logits(x);
  return bias_.defined() ? add_bias(y, bias_) : y;
}

void Head::visit(Visitor& visitor) {
  if (!tied_) visitor.child("", linear_);
  visitor.parameter("bias", bias_, Role::bias);
}

std::unique_ptr<Model> make_model(const ModelConfig& config) {
  switch (config.model) {
    case ModelKind::lm:
      return std::make_unique<LanguageModel>(config);
    case ModelKind::encoder:
      return std::make_unique<Encoder>(config);
    case ModelKind::seq2seq:
      return std::make_unique<EncoderDecoder>(config);
    case ModelKind::classifier:
      return std::make_unique<Classifier>(config);
    case ModelKind::mlp:
      return std::make_unique<Mlp>(config);
  }
  throw UsageError(concat("make_model: model kind ", static_cast<int>(config.model), " is none of lm ... mlp"));
}

}  // namespace addnorm
