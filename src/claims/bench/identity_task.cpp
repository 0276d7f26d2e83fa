#include "claims/bench/identity_task.h"

#include "addnorm/autograd/tape.h"
#include "addnorm/nn/feed_forward.h"
#include "addnorm/tensor/arena.h"
#include "addnorm/train/optimizer.h"
#include "claims/bench/experiment.h"

namespace addnorm::lab {
namespace {

constexpr std::size_t kWidth = 16, kRows = 64;

struct Block : Module {
  Block(const ClaimContext& context, const IdentityTask& task, std::uint64_t seed) : task_(task) {
    for (std::size_t i = 0; i < task.layers; ++i) {
      if (task.linear)
        matrices_.emplace_back(kWidth, kWidth);
      else
        branches_.emplace_back(FeedForwardOptions{.d_model = kWidth, .d_ff = 2 * kWidth});
    }
    draw(*this, context, {.width = kWidth, .layers = task.layers}, seed);
  }
  Var operator()(Var x) const {
    for (std::size_t i = 0; i < task_.layers; ++i) {
      const Var f = task_.linear ? matrices_[i](x) : branches_[i](x, {});
      x = task_.skip ? add(x, f) : f;
    }
    return x;
  }
  void visit(Visitor& visitor) override {
    for (std::size_t i = 0; i < matrices_.size(); ++i) visitor.child(concat("layers.", i), matrices_[i]);
    for (std::size_t i = 0; i < branches_.size(); ++i) visitor.child(concat("layers.", i), branches_[i]);
  }

 private:
  IdentityTask task_;
  std::vector<Linear> matrices_;
  std::vector<FeedForward> branches_;
};

}  // namespace

std::int64_t steps_to_identity(const ClaimContext& context, const IdentityTask& task, std::uint64_t seed) {
  Block block(context, task, seed);
  const auto optimizer = make_optimizer(block, usual_options(OptimizerKind::adam));
  for (std::int64_t step = 0; step <= task.most; ++step) {
    const ArenaScope scope;
    const Var x = random_var({kRows, kWidth}, seed * 100003 + static_cast<std::uint64_t>(step));
    const Var off = sub(block(x), x);
    const Var loss = mean(mul(off, off));
    if (loss.value().item() < task.enough) return step;
    optimizer->clear_gradients();
    backward(loss);
    optimizer->step(3e-3);
  }
  return task.most + 1;
}

}  // namespace addnorm::lab
