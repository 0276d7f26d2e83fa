// Stack: layers of sub-layers around one residual stream. They read and write; where the norms are is not their business.
#pragma once

#include <memory>
#include <vector>

#include "addnorm/model/config.h"
#include "addnorm/model/tokens.h"
#include "addnorm/nn/attention.h"
#include "addnorm/nn/feed_forward.h"

namespace addnorm {

/// Depth, width and sub-layers of a stack of that model, as arrangements take them. `config` is completed.
StackShape stack_shape(const ModelConfig& config, StackKind kind);
/// Of the only stack, or of the encoder.
StackShape first_stack_shape(const ModelConfig& config);

/// One, or encoder and decoder, each with the matrices of the model that start by its rule: for init_lines and contained_init.
std::vector<DrawnStack> drawn_stacks(const ModelConfig& config);

/// Keys and values of every attention of a stack.
struct StackCache {
  std::vector<AttentionCache> self, cross;  ///< by layer
  std::size_t length = 0;                   ///< tokens so far

  void select(std::span<const std::size_t> from);  ///< row i becomes a copy of row from[i]; copies the whole capacity
};

/// What a pass through a stack sees besides x.
struct StackInput {
  std::vector<std::size_t> lengths{};         ///< of the sequences; empty: no padding
  bool joined = false;                        ///< x [1, tokens, d_model] are these sequences one after another
  Var memory{};                               ///< what cross-attention reads
  std::vector<std::size_t> memory_lengths{};  ///< empty: no padding
  StackCache* cache = nullptr;                ///< decoding: x holds only the tokens after those
  StreamObserver* observer = nullptr;
};

///   s = residual.open(x);  for every layer and unit: s.write(unit, F(s.read(unit)));  y = s.close()
///
/// x [batch, tokens, d_model], or any [..., d_model] without attention -> the same shape. With Pass::recompute backward runs
/// layers again: the stack outlives it and stays where it is.
class Stack : public Module {
 public:
  Stack() = default;
  Stack(const ModelConfig& config, StackKind kind);

  Var operator()(const Var& x, const StackInput& input, const Pass& pass) const;
  /// The end of such a pass, from where its stream stood before `layer` (StreamObserver::on_layer); from after the last layer
  /// this is the close alone. The same bits as the whole pass, also with a cut of its own from that layer on. Without a cache.
  Var rest(const Stream::State& before, std::size_t layer, const StackInput& input, const Pass& pass) const;
  /// The pass as these tokens have it: where their rows begin, and what is padding where a norm of the stack wants to know.
  Pass pass_for(const Pass& pass, const Tokens& tokens) const;
  StackCache cache(std::size_t batch, std::size_t capacity) const;
  void visit(Visitor& visitor) override;

  Residual& residual() { return *residual_; }
  const Residual& residual() const { return *residual_; }
  /// Another arrangement around the same sub-layers, for looking at weights under both; gives back the one that was there. It is
  /// made for the same shape and asks for the same inside of branches: a UsageError otherwise.
  std::unique_ptr<Residual> exchange(std::unique_ptr<Residual> other);

 private:
  struct Layer {
    Attention self, cross;
    FeedForward ffn;
  };
  Layer make_layer(const ModelConfig& config, std::size_t layer) const;
  Attention make_attention(const ModelConfig& config, SubLayer sub_layer, const BranchOptions& wanted) const;
  Var branch(const Unit& unit, const Var& x, const StackInput& input, const Pass& pass) const;
  void run_layers(Stream& stream, std::size_t first, const StackInput& input, const Pass& pass) const;
  void run(Stream& stream, std::size_t layer, const StackInput& input, const Pass& pass) const;
  void run_recomputed(Stream& stream, std::size_t layer, const StackInput& input, const Pass& pass) const;

  std::unique_ptr<Residual> residual_;
  std::vector<Layer> layers_;
};

}  // namespace addnorm
