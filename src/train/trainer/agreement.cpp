#include "train/trainer/agreement.h"

#include <array>
#include <string>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/tensor/arena.h"

namespace addnorm {
namespace {

class Alone final : public Communicator {
 public:
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 1; }
  void sum(std::span<const std::span<float>>) override {}
  void sum(std::span<double>) override {}
  void largest(std::span<std::int32_t>) override {}
};

/// Every gradient that some rank has, here as well.
std::vector<std::span<float>> gradients_of(Model& model, std::span<const std::int32_t> somewhere) {
  const OutsideArenaScopes outside;
  std::vector<std::span<float>> all;
  std::size_t at = 0;
  for_each_parameter(model, [&](Parameter& p) {
    if (somewhere[at++] == 0) return;
    Tensor& gradient = p.value.grad();
    if (!gradient.defined()) gradient = Tensor::zeros(p.value.shape());
    all.push_back(gradient.values<float>());
  });
  return all;
}

}  // namespace

Communicator& alone() {
  static Alone only;
  return only;
}

void check_ranks(const Communicator& ranks, Model& model, std::size_t batch_size) {
  require(ranks.size() >= 1 && ranks.rank() < ranks.size(), "Trainer: the communicator is rank ", ranks.rank(), " of ",
          ranks.size(), "; ranks are 0 ... size - 1");
  if (ranks.size() == 1) return;
  require(batch_size % ranks.size() == 0, "Trainer: a batch_size of ", batch_size, " cannot be shared equally by ", ranks.size(),
          " ranks; make it a multiple of ", ranks.size());
  for_each_buffer(model, [&](const std::string& path, Tensor&) {
    throw UsageError(concat("Trainer: ", path, " of the model is a running statistic of batches, and each of ", ranks.size(),
                            " ranks would see other batches; train it on one rank, or with a norm that has none"));
  });
}

void agree(Communicator& ranks, Model& model, StepShare& share) {
  std::vector<std::int32_t> flags{share.failed, share.bad_parameter, share.stop};
  const std::size_t own_flags = flags.size();
  for_each_parameter(model, [&](Parameter& p) { flags.push_back(p.value.grad().defined()); });
  ranks.largest(flags);
  share.failed = flags[0] != 0;
  share.bad_parameter = flags[1] != 0;
  share.stop = flags[2] != 0;
  if (share.failed) return;

  const auto own = static_cast<double>(share.labels);
  std::array<double, 4> sums{own, own * share.loss, static_cast<double>(share.tokens), share.flops};
  ranks.sum(std::span<double>(sums));
  share.labels = static_cast<std::size_t>(sums[0]);
  share.loss = sums[0] > 0 ? sums[1] / sums[0] : 0;
  share.tokens = static_cast<std::size_t>(sums[2]);
  share.flops = sums[3];

  const auto weight = static_cast<float>(sums[0] > 0 ? own / sums[0] : 0);
  const std::vector<std::span<float>> gradients = gradients_of(model, std::span(flags).subspan(own_flags));
  for (const std::span<float> gradient : gradients)
    for (float& g : gradient) g *= weight;
  ranks.sum(gradients);
}

}  // namespace addnorm
