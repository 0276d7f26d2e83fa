// Model: what all models share, ours and those of other programs. Each is made from a ModelConfig, and starts as its arrangement
// says.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "addnorm/model/stack.h"
#include "addnorm/model/tokens.h"

namespace addnorm {

/// What a model just made holds: matrices drawn with seed 1, or all zero, for those who fill them at once (a checkpoint,
/// another seed) and need not pay for drawing twice.
enum class Start : unsigned char { drawn, blank };

/// What a model reads. Which of the fields it uses follows from the model; what the spans show stays with the caller.
struct ModelInput {
  Tokens tokens{};                    ///< the sequences; seq2seq: the sources
  Tokens target{};                    ///< seq2seq: what the decoder reads
  std::span<const float> features{};  ///< mlp: [samples, features]
  std::size_t samples = 0;
};

/// Observers of the stacks of a pass; `decoder` is for the second stack of a model that has two.
struct StreamObservers {
  StreamObserver* stream = nullptr;
  StreamObserver* decoder = nullptr;
};

/// A class of another program derives from it as ours do (examples/own_model.cpp): body() and head() are enough to train it and
/// to save it; with stacks() it is probed, calibrated and x-rayed as well. Neither copied nor moved: decodings and graphs with
/// recompute refer to it.
class Model : public Module {
 public:
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  /// Sizes and parts. `model` says what is predicted, for code that counts or explains: tokens, or classes of whole samples.
  const ModelConfig& config() const { return config_; }
  /// What messages call it. Ours: the config's kind.
  virtual std::string kind() const { return name_of(config_.model); }

  /// Its stacks in the order in which they run, one or two; none: it cannot be probed or x-rayed.
  virtual std::vector<Stack*> stacks() { return {}; }
  /// With what body() runs stack number `stack`, for running a stack again from its middle; `memory` is what came out of the
  /// first one. As it is, the first stack reads `tokens`, the second `target` and the memory.
  virtual StackInput stack_input(std::size_t stack, const ModelInput& input, const Var& memory) const;
  /// What comes out of the last stack, each of which is watched by its observer.
  virtual Var body(const ModelInput& input, const Pass& pass, const StreamObservers& watch = {}) const = 0;

  virtual bool has_head() const { return true; }  ///< whether there are logits
  /// Logits are a matrix times y plus a bias: the matrix has Role::head, or is the table of tokens where the config says tied.
  virtual bool has_linear_head() const { return false; }
  /// Logits of `y`, which came out of the last stack for this input, or is some of its rows.
  virtual Var head(const ModelInput& input, const Var& y) const = 0;
  /// head(body()): [samples, tokens, vocabulary] or [samples, classes]. A UsageError without a head.
  virtual Var logits(const ModelInput& input, const Pass& pass = {}, const StreamObservers& watch = {}) const;

  /// Starts anew: matrices are drawn by the arrangement's rule, all else (gains, biases, coefficients, running statistics) is
  /// what it is in a model just made, which is initialised with seed 1. Gradients stay as they are. Float32 models only.
  void initialise(std::uint64_t seed);
  /// Another of this class, made of the same config with Start::blank. A class of another program says how.
  virtual std::unique_ptr<Model> blank() const;
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
