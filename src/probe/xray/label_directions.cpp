#include "probe/xray/label_directions.h"

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

}  // namespace addnorm
