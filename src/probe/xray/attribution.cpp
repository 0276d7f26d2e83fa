#include "probe/xray/attribution.h"

#include <string_view>
#include <utility>

#include "addnorm/model/classifier.h"
#include "tensor/numbers.h"

namespace addnorm {
namespace {

/// How much of each token is in the pooled vector of its sequence.
std::vector<double> shares_of(Pooling pooling, const std::vector<std::size_t>& lengths, std::size_t batch, std::size_t tokens) {
  std::vector<double> shares(batch * tokens, 0.0);
  for (std::size_t s = 0; s < batch; ++s) {
    const std::size_t length = lengths.empty() ? tokens : lengths[s];
    if (pooling == Pooling::first) shares[s * tokens] = 1;
    for (std::size_t t = 0; pooling == Pooling::mean && t < length; ++t) shares[s * tokens + t] = 1 / static_cast<double>(length);
  }
  return shares;
}

}  // namespace

std::optional<LinearHead> linear_head(Model& model) {
  const ModelConfig& config = model.config();
  const std::size_t vocabulary = config.model == ModelKind::seq2seq ? config.target_vocab : config.vocab;
  std::optional<Tensor> head, table, before;
  for_each_parameter(model, [&](Parameter& p) {
    if (p.role == Role::head && p.value.shape().rank() == 2) head = p.value.value();
    if (p.path.ends_with("head.project.weight")) before = p.value.value();
    const bool of_decoder = p.place.stack && std::string_view(p.place.stack) == "decoder";
    const bool wanted = config.model != ModelKind::seq2seq || config.shared_vocab || of_decoder;
    if (p.role == Role::token_embedding && wanted && p.value.shape()[0] == vocabulary) table = p.value.value();
  });
  if (!model.has_linear_head()) return std::nullopt;
  const bool tied = config.tied && config.model != ModelKind::classifier && config.model != ModelKind::mlp;
  const std::optional<Tensor>& matrix = tied ? table : head;
  if (!matrix || before.has_value() != (config.d_embedding > 0)) return std::nullopt;
  return LinearHead{*matrix, before};
}

LabelDirections::LabelDirections(LinearHead head) : head_(std::move(head)), mean_(head_.matrix.shape()[1], 0.0) {
  const std::size_t classes = head_.matrix.shape()[0], width = head_.matrix.shape()[1];
  dispatch(head_.matrix.dtype(), [&](auto zero) {
    const auto* rows = head_.matrix.data<decltype(zero)>();
    for (std::size_t c = 0; c < classes; ++c)
      for (std::size_t i = 0; i < width; ++i) mean_[i] += static_cast<double>(rows[c * width + i]);
  });
  for (double& m : mean_) m /= static_cast<double>(classes);
}

std::vector<double> LabelDirections::of_label(std::size_t label) const {
  const std::size_t inner = mean_.size();
  std::vector<double> found(inner);
  dispatch(head_.matrix.dtype(), [&](auto zero) {
    const auto* row = head_.matrix.data<decltype(zero)>() + label * inner;
    for (std::size_t i = 0; i < inner; ++i) found[i] = static_cast<double>(row[i]) - mean_[i];
  });
  if (!head_.before) return found;
  const std::size_t width = head_.before->shape()[1];
  std::vector<double> wide(width, 0.0);
  dispatch(head_.before->dtype(), [&](auto zero) {
    const auto* rows = head_.before->data<decltype(zero)>();
    for (std::size_t i = 0; i < inner; ++i)
      for (std::size_t j = 0; j < width; ++j) wide[j] += found[i] * static_cast<double>(rows[i * width + j]);
  });
  return wide;
}

Directions LabelDirections::of(const Batch& batch, const Shape& exit, std::optional<Pooling> pooling) const {
  const std::size_t width = exit.back(), rows = exit.elements() / width;
  const std::size_t tokens = pooling ? exit[1] : 1;  // rows that one label speaks for
  const std::vector<double> shares =
      pooling ? shares_of(*pooling, batch.lengths, exit[0], tokens) : std::vector<double>(rows, 1.0);
  Directions all{std::vector<double>(rows * width, 0.0)};
  for (std::size_t l = 0; l < batch.labels.size(); ++l) {
    if (batch.labels[l] == kIgnoredLabel) continue;
    ++all.count;
    const std::vector<double> direction = of_label(static_cast<std::size_t>(batch.labels[l]));
    for (std::size_t r = l * tokens; r < (l + 1) * tokens; ++r)
      for (std::size_t i = 0; i < width; ++i) all.values[r * width + i] = shares[r] * direction[i];
  }
  return all;
}

Directions embedding_directions(const Tensor& exit, const std::vector<std::size_t>& lengths, Pooling pooling) {
  const std::size_t batch = exit.shape()[0], tokens = exit.shape()[1], width = exit.shape()[2];
  const Tensor y = exit.to(DType::f64);
  const std::vector<double> shares = shares_of(pooling, lengths, batch, tokens);
  Directions all{std::vector<double>(exit.elements(), 0.0), static_cast<double>(batch)};
  for (std::size_t s = 0; s < batch; ++s) {
    std::vector<double> e(width, 0.0);
    for (std::size_t r = s * tokens; r < (s + 1) * tokens; ++r)
      for (std::size_t i = 0; shares[r] > 0 && i < width; ++i) e[i] += shares[r] * y.data<double>()[r * width + i];
    const double squares = dot(e, e);
    for (std::size_t r = s * tokens; r < (s + 1) * tokens && squares > 0; ++r)
      for (std::size_t i = 0; i < width; ++i) all.values[r * width + i] = shares[r] * e[i] / squares;
  }
  return all;
}

namespace {

/// What the head gives of nothing: its bias, [1, classes].
Tensor head_bias(const Model& model, DType dtype) {
  const std::size_t width = model.config().d_model;
  const bool pools = model.config().model == ModelKind::classifier;
  const Shape one = pools ? Shape{1, 1, width} : Shape{1, width};
  return head_logits(model, {.sequences = 1}, Var(Tensor::zeros(one, dtype))).value();
}

const char* class_reason() { return " has more than one stream or mixes layers, so that its norms cannot be frozen one by one"; }

}  // namespace

XrayAttribution::XrayAttribution(Model& model, Pooling pooling, const XrayOptions& options)
    : model_(model), pooling_(pooling), asked_(options.ln), words_(options.words) {
  const Stack& last = *stacks_to_look_into(model).back();
  const bool row = Components::row_of(&last.residual()) != nullptr;
  std::optional<LinearHead> head = linear_head(model);
  const bool linear = head.has_value() || !model.has_head();
  if (!row) why_not_ = concat("the arrangement ", model.config().arrangement, class_reason());
  if (row && !linear) why_not_ = "the head has an activation or a norm: what it makes of a part says nothing of the whole";
  ln_ = row && linear && asked_ != AttributionNorm::recompute ? AttributionNorm::frozen : AttributionNorm::recompute;
  if (ln_ == AttributionNorm::frozen && head) labels_.emplace(*std::move(head));
  parts_.resize(last.residual().shape().units() + 2);
  by_lens_.resize(last.residual().shape().units() + 1);
}

void XrayAttribution::begin(const Batch& batch, const XrayOutput& output, std::optional<Components>& components) {
  const Tensor& y = output.y.value();
  if (!model_.has_head()) directions_ = embedding_directions(y, batch.lengths, pooling_);
  whole_ += brought_by(output);
  if (model_.has_head()) bias_ += label_margins(head_bias(model_, y.dtype()), batch.labels);
  if (ln_ != AttributionNorm::frozen) return;
  if (labels_) {
    const bool pools = model_.config().model == ModelKind::classifier;
    directions_ = labels_->of(batch, y.shape(), pools ? std::optional(model_.config().pooling) : std::nullopt);
  }
  components->take_exit();
  for (std::size_t i = 0; i < parts_.size(); ++i)
    parts_[i] += {dot(directions_.values, components->parts()[i]), directions_.count};
}

void XrayAttribution::see_lens(std::size_t units, const XrayOutput& output) {
  if (ln_ == AttributionNorm::recompute) by_lens_.at(units) += brought_by(output);
}

RunningMean XrayAttribution::brought_by(const XrayOutput& output) const {
  if (model_.has_head()) return label_margins(output.logits, output.labels);
  return {dot(directions_.values, output.y.value()), directions_.count};
}

void XrayAttribution::write_to(XrayResult& result) const {
  if (asked_ == AttributionNorm::frozen && ln_ != AttributionNorm::frozen)
    result.missing.push_back(
        {"attribution", concat(called(words_, "ln"), " frozen: ", why_not_, "; ", called(words_, "ln"), " recompute can")});
  else {
    result.ln = ln_;
    result.attributed = whole_.value();
    std::vector<double>& shares = result.stacks.back().attribution;
    const double bias = model_.has_head() ? bias_.value() : 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const bool last = i + 1 == parts_.size();
      if (ln_ == AttributionNorm::frozen)
        shares.push_back(parts_[i].value() + (last ? bias : 0));
      else
        shares.push_back(last ? bias : by_lens_[i].value() - (i == 0 ? bias : by_lens_[i - 1].value()));
    }
  }
}

}  // namespace addnorm
