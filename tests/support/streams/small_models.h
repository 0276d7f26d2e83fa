// Small models for tests: every kind, with sizes that no kernel likes.
#pragma once

#include <cstdint>
#include <vector>

#include "addnorm/model/classifier.h"
#include "addnorm/model/encoder.h"
#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/language_model.h"
#include "addnorm/model/mlp.h"
#include "support/near.h"

namespace addnorm::test {

inline ModelConfig small(ModelKind kind, const std::string& arrangement = "pre-ln") {
  ModelConfig config{
      .model = kind, .vocab = 11, .layers = 2, .d_model = 12, .heads = 2, .d_ff = 20, .seq_len = 8, .arrangement = arrangement};
  if (kind == ModelKind::seq2seq) config.target_vocab = 7;
  if (kind == ModelKind::mlp) config.features = 5;
  if (kind == ModelKind::mlp || kind == ModelKind::classifier) config.classes = 3;
  return config;
}

inline std::vector<std::int32_t> ids(std::size_t count, std::size_t below, std::uint64_t seed) {
  std::vector<std::int32_t> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = static_cast<std::int32_t>(random_word(seed, 0, static_cast<std::uint32_t>(i)) % below);
  return all;
}

/// A batch of two for any kind of model, and what comes out of it: logits.
class AnyModel {
 public:
  explicit AnyModel(const ModelConfig& config) : model(make_model(config)), config_(model->config()) {}

  Var operator()(const Pass& pass = {}, StreamObserver* observer = nullptr) const {
    const Tokens tokens{.ids = ids_, .batch = 2, .lengths = {5, 3}};
    if (const auto* lm = dynamic_cast<const LanguageModel*>(model.get())) return (*lm)(tokens, pass, observer);
    if (const auto* encoder = dynamic_cast<const Encoder*>(model.get())) return encoder->logits(tokens, pass, observer);
    if (const auto* classifier = dynamic_cast<const Classifier*>(model.get())) return (*classifier)(tokens, pass, observer);
    if (const auto* mlp = dynamic_cast<const Mlp*>(model.get())) return (*mlp)(Var(rows_.to(dtype)), pass, observer);
    const auto& pair = dynamic_cast<const EncoderDecoder&>(*model);
    return pair(tokens, {.ids = targets_, .batch = 2, .lengths = {4, 2}}, pass, nullptr, observer);
  }

  std::unique_ptr<Model> model;
  DType dtype = DType::f32;  ///< of an mlp's input

 private:
  ModelConfig config_;
  std::vector<std::int32_t> ids_ = ids(10, 11, 3), targets_ = ids(8, 7, 4);
  Tensor rows_ = normal_tensor({2, 5}, 5);
};

}  // namespace addnorm::test
