#include "claims/bench/positions.h"

#include "addnorm/autograd/tape.h"
#include "addnorm/train/objective.h"
#include "claims/bench/experiment.h"
#include "claims/bench/linear_probe.h"

namespace addnorm::lab {
namespace {

constexpr std::size_t kSequences = 96;

/// Even rows teach and odd ones are asked: the second half of the sequences is laid between the rows of the first.
double accuracy(const Tensor& x) {
  const std::size_t width = x.shape().back(), rows = x.elements() / width;
  Tensor mixed(x.shape());
  std::vector<std::size_t> positions(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t from = (r % 2) * (rows / 2) + r / 2;
    positions[r] = from % kProbedPositions;
    for (std::size_t c = 0; c < width; ++c) mixed.data<float>()[r * width + c] = x.values<float>()[from * width + c];
  }
  return probe_accuracy(mixed, positions, kProbedPositions);
}

}  // namespace

std::vector<double> position_accuracy(const ClaimContext& context, std::string_view arrangement, std::size_t layers,
                                      std::uint64_t seed) {
  ModelConfig config = bench_model(context, arrangement, layers);
  config.model = ModelKind::encoder;  // no causal mask that would tell positions by itself
  config.d_model = 48;
  config.d_ff = 96;
  config.seq_len = kProbedPositions;
  config.positions = PositionKind::sinusoidal;
  config.scale_embedding = true;
  const auto model = started(config, seed);
  Watch watch;
  const NoGrad no_grad;
  batch_logits(*model, random_batch(config, kSequences, seed), {}, {.stream = &watch});
  std::vector<double> all;
  for (const Var& x : watch.streams) all.push_back(accuracy(x.value()));
  return all;
}

}  // namespace addnorm::lab
