#include "model/placement/trials.h"

#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/model/sentence.h"
#include "tensor/numbers.h"

namespace addnorm::placing {
namespace {

constexpr std::int32_t kNoLabel = -1;
constexpr std::size_t kShortestHalves = 6;  // tokens of a text that is cut in two
constexpr double kSharpness = 20;           // sentence encoders are trained with cosines times about this

std::size_t length_of(const Tokens& tokens, std::size_t row) {
  return tokens.lengths.empty() ? tokens.tokens() : tokens.lengths[row];
}

/// -log softmax(row)[label], but at most that of guessing: models are not trained on every token of a text (a prompt, the
/// numbers that are to be sorted), and confident errors there must not outweigh the rest.
double surprise(std::span<const float> row, std::size_t label) {
  const double top = *std::ranges::max_element(row);
  double sum = 0;
  for (const float v : row) sum += std::exp(static_cast<double>(v) - top);
  const double own = top + std::log(sum) - static_cast<double>(row[label]);
  const double guessing = std::log(static_cast<double>(row.size()));
  return std::isfinite(own) ? std::min(own, guessing) : own;
}

/// Of logits [batch, tokens, vocab], where there is a label; the exchanged ones are those of half the labels further on.
void add_surprises(const Tensor& logits, std::span<const std::int32_t> labels, Surprises& to) {
  const std::size_t vocab = logits.shape().back();
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != kNoLabel) places.push_back(i);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::span<const float> row = logits.values<float>().subspan(places[k] * vocab, vocab);
    to.own.push_back(surprise(row, static_cast<std::size_t>(labels[places[k]])));
    to.exchanged.push_back(surprise(row, static_cast<std::size_t>(labels[places[(k + places.size() / 2) % places.size()]])));
  }
}

std::vector<std::int32_t> next_tokens(const Tokens& tokens) {
  std::vector<std::int32_t> labels(tokens.ids.size(), kNoLabel);
  for (std::size_t row = 0; row < tokens.batch; ++row)
    for (std::size_t t = 0; t + 1 < length_of(tokens, row); ++t) {
      const std::size_t i = row * tokens.tokens() + t;
      labels[i] = tokens.ids[i + 1];
    }
  return labels;
}

/// Every sixth token hidden, in two passes that hide different ones; never the first and the last of a text.
Surprises of_hidden(const Model& model, const PlacementSample& sample) {
  constexpr std::size_t kEvery = 6;
  const Tokens& tokens = sample.tokens;
  Surprises out;
  for (const std::size_t offset : {std::size_t{2}, std::size_t{5}}) {
    std::vector<std::int32_t> ids(tokens.ids.begin(), tokens.ids.end()), labels(ids.size(), kNoLabel);
    for (std::size_t row = 0; row < tokens.batch; ++row)
      for (std::size_t t = offset; t + 1 < length_of(tokens, row); t += kEvery) {
        const std::size_t i = row * tokens.tokens() + t;
        labels[i] = tokens.ids[i];
        ids[i] = sample.mask.value_or(tokens.ids[row * tokens.tokens() + (t * 31 + 17) % length_of(tokens, row)]);
      }
    Tokens hidden = tokens;
    hidden.ids = ids;
    add_surprises(model.logits({.tokens = hidden}).value(), labels, out);
  }
  return out;
}

/// The vectors of some tokens of each text that is long enough: its first half, or its second.
Tensor half_vectors(const Model& model, const Tokens& tokens, bool second) {
  std::vector<std::vector<std::int32_t>> rows;
  for (std::size_t row = 0; row < tokens.batch; ++row) {
    const std::size_t length = length_of(tokens, row), half = length / 2;
    if (length < kShortestHalves) continue;
    const auto begin = tokens.ids.begin() + static_cast<std::ptrdiff_t>(row * tokens.tokens() + (second ? half : 0));
    rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(second ? length - half : half));
  }
  std::size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  std::vector<std::int32_t> ids;
  std::vector<std::size_t> lengths;
  for (auto& row : rows) {
    lengths.push_back(row.size());
    row.resize(longest, row.back());
    ids.insert(ids.end(), row.begin(), row.end());
  }
  return sentence_vectors(model, {.ids = ids, .batch = rows.size(), .lengths = lengths}, {.normalize = true});
}

/// Which second half belongs to which first one, by the cosines of their mean vectors.
Surprises of_halves(const Model& model, const Tokens& tokens) {
  const Tensor a = half_vectors(model, tokens, false), b = half_vectors(model, tokens, true);
  const std::size_t rows = a.shape()[0], width = a.shape()[1];
  Surprises out;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<float> scores(rows);
    for (std::size_t j = 0; j < rows; ++j) {
      double dot = 0;
      for (std::size_t k = 0; k < width; ++k)
        dot += static_cast<double>(a.data<float>()[i * width + k]) * static_cast<double>(b.data<float>()[j * width + k]);
      scores[j] = static_cast<float>(kSharpness * dot);
    }
    out.own.push_back(surprise(scores, i));
    out.exchanged.push_back(surprise(scores, (i + rows / 2) % rows));
  }
  return out;
}

}  // namespace

bool Surprises::finite() const {
  return std::ranges::all_of(own, [](double v) { return std::isfinite(v); });
}

Surprises surprises_on(const Model& model, const PlacementSample& sample) {
  const NoGrad no_grad;
  Surprises out;
  const ModelKind kind = model.config().model;
  if (kind == ModelKind::lm)
    add_surprises(model.logits({.tokens = sample.tokens}).value(), next_tokens(sample.tokens), out);
  else if (kind == ModelKind::seq2seq)
    add_surprises(model.logits({.tokens = sample.tokens, .target = sample.target}).value(), next_tokens(sample.target), out);
  else if (model.has_head())
    out = of_hidden(model, sample);
  else
    out = of_halves(model, sample.tokens);
  return out;
}

LossDifference difference(std::span<const double> a, std::span<const double> b) {
  const std::size_t n = std::min(a.size(), b.size());
  if (n < 2) return {};
  std::vector<double> d(n);
  for (std::size_t i = 0; i < n; ++i) d[i] = a[i] - b[i];
  const double mean = mean_of(d);
  double squares = 0;
  for (const double v : d) squares += (v - mean) * (v - mean);
  const double error = std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
  return {mean, error > 0 ? mean / error : (mean > 0 ? INFINITY : 0)};
}

std::size_t rows_with_halves(const Tokens& tokens) {
  std::size_t count = 0;
  for (std::size_t row = 0; row < tokens.batch; ++row) count += length_of(tokens, row) >= kShortestHalves;
  return count;
}

}  // namespace addnorm::placing
