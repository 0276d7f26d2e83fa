#include "addnorm/model/stack.h"

#include <algorithm>

#include "addnorm/autograd/tape.h"

namespace addnorm {
namespace {

MultiHeadOptions attention_options(const ModelConfig& config, SubLayer sub_layer, StackKind kind, const BranchOptions& wanted) {
  const bool cross = sub_layer == SubLayer::cross;
  MultiHeadOptions options{.d_model = config.d_model,
                           .heads = config.heads,
                           .kv_heads = config.kv_heads,
                           .d_head = config.d_head,
                           .cross = cross,
                           .causal = !cross && (kind == StackKind::decoder || kind == StackKind::decoder_only),
                           .bias = config.attention_bias.value_or(config.bias),
                           .out_bias = config.attention_out_bias,
                           .qk_norm = qk_norm_of(config),
                           .qk_norm_span = config.qk_norm_span,
                           .inner_norm = wanted.inner_norm,
                           .head_gain = wanted.head_gain};
  if (is_rotary(config.positions) && !cross)
    options.rotary =
        RotaryOptions{.max_positions = config.seq_len,
                      .base = config.rope_base,
                      .pairs = config.positions == PositionKind::rotary ? RotaryPairs::adjacent : RotaryPairs::halves};
  return options;
}

}  // namespace

StackShape stack_shape(const ModelConfig& config, StackKind kind) {
  StackShape shape{.width = config.d_model, .layers = config.layers, .kind = kind, .name = "stack"};
  shape.sub_layers.clear();
  if (config.layer != LayerKind::ffn) shape.sub_layers.push_back(SubLayer::self);
  if (kind == StackKind::decoder) shape.sub_layers.push_back(SubLayer::cross);
  if (config.layer != LayerKind::attention) shape.sub_layers.push_back(SubLayer::ffn);
  if (kind == StackKind::encoder) {
    shape.other_layers = config.decoder_layers;
    shape.name = "encoder";
  }
  if (kind == StackKind::decoder) {
    shape.layers = config.decoder_layers;
    shape.other_layers = config.layers;
    shape.name = "decoder";
  }
  return shape;
}

StackShape first_stack_shape(const ModelConfig& config) {
  if (config.model == ModelKind::seq2seq) return stack_shape(config, StackKind::encoder);
  return stack_shape(config, config.model == ModelKind::lm ? StackKind::decoder_only : StackKind::encoder_only);
}

namespace {

bool has_head(const ModelConfig& c, StackKind kind) {
  if (c.model == ModelKind::mlp || c.model == ModelKind::classifier) return true;
  return kind != StackKind::encoder && c.head && !c.tied;
}

std::vector<OuterMatrix> outer_of(const ModelConfig& c, StackKind kind) {
  const bool tells_classes = c.model == ModelKind::mlp || c.model == ModelKind::classifier;
  const bool has_table = has_tokens(c.model) && !(kind == StackKind::decoder && c.shared_vocab);  // that is the encoder's
  std::vector<OuterMatrix> all;
  if (has_table) all.push_back({Role::token_embedding});
  if (has_tokens(c.model) && c.positions == PositionKind::learned) all.push_back({Role::position_embedding});
  if (c.model == ModelKind::mlp) all.push_back({Role::weight, "in.weight"});
  if (c.d_embedding > 0 || c.head_transform) all.push_back({Role::weight});
  if (has_head(c, kind)) all.push_back({Role::head, tells_classes ? "out.weight" : ""});
  return all;
}

DrawnStack drawn_stack(const ModelConfig& config, const StackShape& shape) {
  DrawnStack stack = shape;
  stack.outer = outer_of(config, shape.kind);
  stack.biases = config.bias;
  return stack;
}

}  // namespace

std::vector<DrawnStack> drawn_stacks(const ModelConfig& config) {
  std::vector<DrawnStack> stacks{drawn_stack(config, first_stack_shape(config))};
  if (config.model == ModelKind::seq2seq) stacks.push_back(drawn_stack(config, stack_shape(config, StackKind::decoder)));
  return stacks;
}

void StackCache::select(std::span<const std::size_t> from) {
  for (AttentionCache& cache : self) cache.select(from);
  for (AttentionCache& cache : cross)
    if (cache.length > 0) cache.select(from);
}

Stack::Stack(const ModelConfig& config, StackKind kind)
    : residual_(make_residual(arrangement_of(config), stack_shape(config, kind), residual_options(config))) {
  for (std::size_t layer = 0; layer < residual_->shape().layers; ++layer) layers_.push_back(make_layer(config, layer));
}

Stack::Layer Stack::make_layer(const ModelConfig& config, std::size_t layer) const {
  const StackShape& shape = residual_->shape();
  Layer made;
  for (std::size_t i = 0; i < shape.sub_layers.size(); ++i) {
    const SubLayer sub_layer = shape.sub_layers[i];
    const BranchOptions wanted = residual_->branch(shape.unit(layer, i));
    if (sub_layer == SubLayer::ffn)
      made.ffn = FeedForward({.d_model = config.d_model,
                              .d_ff = config.d_ff,
                              .activation = config.activation,
                              .bias = config.bias,
                              .inner_norm = wanted.inner_norm});
    else
      (sub_layer == SubLayer::self ? made.self : made.cross) = make_attention(config, sub_layer, wanted);
  }
  return made;
}

Attention Stack::make_attention(const ModelConfig& config, SubLayer sub_layer, const BranchOptions& wanted) const {
  MultiHeadOptions options = attention_options(config, sub_layer, residual_->shape().kind, wanted);
  if (options.rotary && !layers_.empty()) options.rotary = layers_.front().self.options().rotary;  // the same angles in memory
  return Attention(options);
}

Var Stack::operator()(const Var& x, const StackInput& input, const Pass& pass) const {
  require(!input.joined || !input.observer, "Stack: joined sequences cannot be watched; pad them instead");
  const std::unique_ptr<Stream> stream = residual_->open(x, pass, input.observer);
  run_layers(*stream, 0, input, pass);
  if (input.cache) input.cache->length += x.shape()[1];
  return stream->close();
}

Var Stack::rest(const Stream::State& before, std::size_t layer, const StackInput& input, const Pass& pass) const {
  require(layer <= layers_.size(), "Stack: the rest from layer ", layer, ", but there are ", layers_.size());
  require(!input.cache, "Stack: a pass that decodes cannot begin in the middle");
  const std::unique_ptr<Stream> stream = residual_->resume(before, pass, input.observer);
  run_layers(*stream, layer, input, pass);
  return stream->close();
}

void Stack::run_layers(Stream& stream, std::size_t first, const StackInput& input, const Pass& pass) const {
  for (std::size_t layer = first; layer < layers_.size(); ++layer) {
    const NameScope scope(concat("layers.", layer));
    if (input.observer && !replaying()) input.observer->on_layer(layer, stream);
    if (pass.recompute && grad_enabled())
      run_recomputed(stream, layer, input, pass);
    else
      run(stream, layer, input, pass);
  }
}

void Stack::run(Stream& stream, std::size_t layer, const StackInput& input, const Pass& pass) const {
  const Cut* cut = pass.cut && pass.cut->stack == residual_->shape().name ? &*pass.cut : nullptr;
  const auto runs = [&](const Unit& unit) { return !cut || !cut->last_unit || unit.index <= *cut->last_unit; };
  if (!runs(residual_->shape().unit(layer, 0))) return;
  stream.enter(layer);
  for (std::size_t i = 0; i < residual_->shape().sub_layers.size(); ++i) {
    const Unit unit = residual_->shape().unit(layer, i);
    if (!runs(unit)) break;
    const NameScope scope(name_of(unit.sub_layer));
    const Var u = stream.read(unit);
    if (input.observer && !replaying()) input.observer->on_read(unit, u);
    const bool bypassed = cut && std::ranges::count(cut->bypassed, unit.index) > 0;
    stream.write(unit, bypassed ? Var(Tensor::zeros(u.shape(), u.dtype())) : branch(unit, u, input, pass));
  }
  stream.leave(layer);
}

Var Stack::branch(const Unit& unit, const Var& x, const StackInput& input, const Pass& pass) const {
  const Layer& layer = layers_[unit.layer];
  StackCache* cache = input.cache;
  if (unit.sub_layer == SubLayer::ffn) return layer.ffn(x, pass);
  AttentionInput sees;
  if (input.observer && !replaying())
    sees.watch = [&](const AttentionScores& scores) { input.observer->on_attention(unit, scores); };
  if (unit.sub_layer == SubLayer::cross) {
    sees.memory = input.memory;
    sees.key_lengths = input.memory_lengths;
    sees.cache = cache ? &cache->cross[unit.layer] : nullptr;
    return layer.cross(x, sees, pass);
  }
  (input.joined ? sees.joined : sees.key_lengths) = input.lengths;
  sees.cache = cache ? &cache->self[unit.layer] : nullptr;
  return layer.self(x, sees, pass);
}

/// The layer as one op that keeps only the stream's Vars (and the memory, which all layers share).
void Stack::run_recomputed(Stream& stream, std::size_t layer, const StackInput& input, const Pass& pass) const {
  const Stream::State before = stream.state();
  std::vector<Var> inputs = before.vars;
  if (input.memory.defined()) inputs.push_back(input.memory);
  std::optional<Unit> pending;
  const auto again = [this, layer, input, pass, count = before.vars.size(), waits = before.pending,
                      out = &pending](const std::vector<Var>& vars) {
    StackInput with = input;
    if (input.memory.defined()) with.memory = vars.back();
    const auto inner =
        residual_->resume({{vars.begin(), vars.begin() + static_cast<std::ptrdiff_t>(count)}, waits}, pass, input.observer);
    run(*inner, layer, with, pass);
    Stream::State after = inner->state();
    if (!replaying()) *out = after.pending;  // not needed in the second run
    return after.vars;
  };
  const std::vector<Var> outputs = recompute(again, inputs);
  stream.restore({outputs, pending});
}

Pass Stack::pass_for(const Pass& pass, const Tokens& tokens) const {
  Pass own = pass;
  own.first_row = pass.first_sequence * tokens.tokens();
  if (residual_->options().norm.formula == NormFormula::batch) own.padding = padding_of(tokens);
  return own;
}

StackCache Stack::cache(std::size_t batch, std::size_t capacity) const {
  StackCache made;
  for (const SubLayer sub_layer : residual_->shape().sub_layers)
    for (const Layer& layer : layers_) {
      if (sub_layer == SubLayer::self) made.self.push_back(layer.self.cache(batch, capacity));
      if (sub_layer == SubLayer::cross) made.cross.push_back(layer.cross.cache(batch, capacity));
    }
  return made;
}

std::unique_ptr<Residual> Stack::exchange(std::unique_ptr<Residual> other) {
  require(other != nullptr, "Stack: exchange() for nothing; a Residual is needed");
  const StackShape& mine = residual_->shape();
  const StackShape& theirs = other->shape();
  require(mine.width == theirs.width && mine.layers == theirs.layers && mine.sub_layers == theirs.sub_layers,
          "Stack: exchange() for an arrangement of ", theirs.layers, " layers of width ", theirs.width, ", the stack has ",
          mine.layers, " of width ", mine.width, "; layers and what is in them must be the same");
  for (std::size_t i = 0; i < mine.units(); ++i) {
    const BranchOptions a = residual_->branch(mine.unit(i)), b = other->branch(mine.unit(i));
    require(a.inner_norm.formula == b.inner_norm.formula && a.head_gain == b.head_gain, "Stack: exchange() of ",
            residual_->arrangement().name, " for ", other->arrangement().name, ": they want other sub-layers");
  }
  residual_.swap(other);
  return other;
}

void Stack::visit(Visitor& visitor) {
  visitor.child("residual", *residual_);  // a norm before the ffn and its first map are both "layers.0.ffn.in"
  for (std::size_t i = 0; i < layers_.size(); ++i)
    for (const SubLayer sub_layer : residual_->shape().sub_layers) {
      const std::string name = concat("layers.", i, ".", sub_layer);
      const Place place{.layer = i, .sub_layer = sub_layer};
      if (sub_layer == SubLayer::self) visitor.child(name, layers_[i].self, place);
      if (sub_layer == SubLayer::cross) visitor.child(name, layers_[i].cross, place);
      if (sub_layer == SubLayer::ffn) visitor.child(name, layers_[i].ffn, place);
    }
}

}  // namespace addnorm
