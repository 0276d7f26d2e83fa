// Model: what all models share. Each is made from a ModelConfig, and starts as its arrangement says.
#pragma once

#include <memory>

#include "addnorm/model/stack.h"
#include "addnorm/model/tokens.h"

namespace addnorm {

/// What a model just made holds: matrices drawn with seed 1, or all zero, for those who fill them at once (a checkpoint,
/// another seed) and need not pay for drawing twice.
enum class Start : unsigned char { drawn, blank };

/// Neither copied nor moved: decodings and graphs with recompute refer to it.
class Model : public Module {
 public:
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  const ModelConfig& config() const { return config_; }
  /// Starts anew: matrices are drawn by the arrangement's rule, all else (gains, biases, coefficients, running statistics) is
  /// what it is in a model just made, which is initialised with seed 1. Gradients stay as they are. Float32 models only.
  void initialise(std::uint64_t seed);
  /// From what a parameter is drawn; nothing: it keeps what its module started it with.
  virtual std::optional<Distribution> init(const Parameter& parameter, const Part& part) const = 0;

 protected:
  Model(const ModelConfig& config, ModelKind kind);
  void draw(std::uint64_t seed);  ///< only what the rule draws: for constructors

 private:
  ModelConfig config_;
};

/// Logits from the stream: a matrix, or the table of tokens; with head_transform of N(act(W x + b)) instead
/// of x, with d_embedding of W x.
class Head : public Module {
 public:
  Head() = default;
  Head(const ModelConfig& config, std::size_t vocabulary);
  Var operator()(const Var& x, const Embedding& table) const;
  void visit(Visitor& visitor) override;

 private:
  bool tied_ = false;
  bool projects_ = false;
  Linear project_;  // from d_model to d_embedding
  bool transformed_ = false;
  Activation activation_ = Activation::gelu;
  Linear transform_;
  Norm norm_;
  Linear linear_;  // not there when tied
  Var bias_;       // of a tied head
};

/// The model that the config names.
std::unique_ptr<Model> make_model(const ModelConfig& config, Start start = Start::drawn);

}  // namespace addnorm
