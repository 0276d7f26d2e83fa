#include "addnorm/model/model.h"

#include <algorithm>
#include <map>

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
  const std::unique_ptr<Model> fresh = blank();  // matrices are drawn below
  std::map<std::string, Tensor> starts;
  for_each_parameter(*fresh, [&](Parameter& p) { starts[p.path] = p.value.value(); });
  for_each_buffer(*fresh, [&](const std::string& path, Tensor& value) { starts[path] = value; });
  const auto take = [&](const std::string& path, Tensor& value) {
    const auto from = starts.find(path);
    require(from != starts.end() && from->second.shape() == value.shape(), "initialise: ", path, " of a model of kind ", kind(),
            " is not in what its blank() makes; override blank() so that it makes another model of the same class");
    std::ranges::copy(from->second.values<float>(), value.values<float>().begin());
  };
  for_each_parameter(*this, [&](Parameter& p) { take(p.path, p.value.value()); });
  for_each_buffer(*this, take);
  draw(seed);
}

std::unique_ptr<Model> Model::blank() const { return make_model(config_, Start::blank); }

StackInput Model::stack_input(std::size_t stack, const ModelInput& input, const Var& memory) const {
  if (stack == 0) return {.lengths = input.tokens.lengths, .joined = input.tokens.joined};
  return {.lengths = input.target.lengths, .memory = memory, .memory_lengths = input.tokens.lengths};
}

Var Model::logits(const ModelInput& input, const Pass& pass, const StreamObservers& watch) const {
  require(has_head(), "a model of kind ", kind(), " has no head; it gives vectors, not logits: call body()");
  return head(input, body(input, pass, watch));
}

void Model::draw(std::uint64_t seed) {
  addnorm::initialise(
      *this, [this](const Parameter& parameter, const Part& part) { return init(parameter, part); }, seed);
}

Head::Head(const ModelConfig& config, std::size_t vocabulary)
    : tied_(config.tied), transformed_(config.head_transform), activation_(config.activation) {
  if (transformed_) {
    transform_ = Linear(config.d_model, config.d_model, Role::weight);
    norm_ = Norm(norm_of(config), config.d_model);
  }
  projects_ = config.d_embedding > 0;
  const std::size_t width = projects_ ? config.d_embedding : config.d_model;
  if (projects_) project_ = Linear(config.d_model, width, Role::weight, false);
  if (!tied_) linear_ = Linear(width, vocabulary, Role::head, config.head_bias);
  if (tied_ && config.head_bias) bias_ = Var(Tensor::zeros({vocabulary}), true);
}

Var Head::operator()(const Var& given, const Embedding& table) const {
  const Var y = transformed_ ? norm_(transform_(given, after_linear(activation_)), Pass{}) : given;
  const Var x = projects_ ? project_(y) : y;
  if (!tied_) return linear_(x);
  const Var logits = table.logits(x);
  return bias_.defined() ? add_bias(logits, bias_) : logits;
}

void Head::visit(Visitor& visitor) {
  if (transformed_) {
    visitor.child("transform", transform_);
    visitor.child("norm", norm_);
  }
  if (projects_) visitor.child("project", project_);
  if (!tied_) visitor.child("", linear_);
  visitor.parameter("bias", bias_, Role::bias);
}

std::unique_ptr<Model> make_model(const ModelConfig& config, Start start) {
  switch (config.model) {
    case ModelKind::lm:
      return std::make_unique<LanguageModel>(config, start);
    case ModelKind::encoder:
      return std::make_unique<Encoder>(config, start);
    case ModelKind::seq2seq:
      return std::make_unique<EncoderDecoder>(config, start);
    case ModelKind::classifier:
      return std::make_unique<Classifier>(config, start);
    case ModelKind::mlp:
      return std::make_unique<Mlp>(config, start);
  }
  throw UsageError(concat("make_model: model kind ", static_cast<int>(config.model), " is none of lm ... mlp"));
}

}  // namespace addnorm
