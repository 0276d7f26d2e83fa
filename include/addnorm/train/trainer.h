// Trainer: one update after the other, each a function of the state before it, so that a run can stop anywhere and go on exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "addnorm/train/checkpoint.h"
#include "addnorm/train/communicator.h"
#include "addnorm/train/guard.h"
#include "addnorm/train/objective.h"
#include "addnorm/train/optimizer.h"
#include "addnorm/train/schedule.h"

namespace addnorm {

/// What to do when a loss, a gradient or a parameter is NaN or infinite. None of them lets it reach a parameter.
enum class OnNan : unsigned char {
  stop,      ///< NumericsError; parameters and optimizer are as before the step
  skip,      ///< go on with the next batch; three in a row stop
  rollback,  ///< back to the last snapshot, then on after the bad batch; three times, then stop
};

struct TrainerOptions {
  std::size_t batch_size = 32;  ///< sequences of one part, of all ranks together
  std::size_t accumulate = 1;   ///< parts of one update: its loss is the mean over all labels of all parts
  double clip_grad_norm = 1;    ///< gradients are scaled down to this norm; 0: never
  double label_smoothing = 0;   ///< 0 ... 1
  std::uint64_t seed = 1;       ///< of dropout
  bool recompute = false;       ///< less memory: layers are computed again in backward
  OnNan on_nan = OnNan::stop;
  double spike_threshold = 0;  ///< skip an update whose loss or gradient norm lies so many deviations above the last ones; 0: off
  OptimizerOptions optimizer{};
  Schedule schedule{};
  FieldWords words{};  ///< what messages call these fields, and those of the optimizer, the schedule and the model's start
};
/// A UsageError names the field, its value and what is allowed.
void check(const TrainerOptions& options);

enum class StepOutcome : unsigned char { updated, skipped, rolled_back };

/// One step as it went.
struct StepRecord {
  std::int64_t step = 0;  ///< from 1
  StepOutcome outcome = StepOutcome::updated;
  double loss = 0;           ///< nats per label
  double gradient_norm = 0;  ///< before clipping
  double learning_rate = 0;
  std::size_t labels = 0;  ///< predicted
  std::size_t tokens = 0;  ///< that went through the model, source and target, without padding; 0: numbers
  double flops = 0;        ///< of matrix products and attention, forward and backward, with padding
  double seconds = 0;      ///< that it took
  std::string problem{};   ///< why it was not an update
  bool stop = false;       ///< some rank wanted this step to be its last
};

/// Hears what happens inside a step; probes are observers. It must not throw. A bad step whose cause is not found without its
/// observers is run once more with them: streams() and on_loss() hear of it twice.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  /// Who watches the residual streams of this step's forward passes.
  virtual StreamObservers streams(std::int64_t /*step*/) { return {}; }
  /// A part of the step's samples, before its forward pass: called before streams().
  virtual void on_part(std::int64_t /*step*/, const Batch& /*part*/) {}
  /// The mean loss of one part of the step, before backward.
  virtual void on_loss(std::int64_t /*step*/, const Var& /*loss*/) {}
  /// After the backward pass of one part, while what it computed can still be read: gradients of watched streams.
  virtual void on_backward(std::int64_t /*step*/) {}
  /// All gradients are there, not yet clipped or looked at.
  virtual void on_gradients(std::int64_t /*step*/, Model& /*model*/) {}
  virtual void on_step(const StepRecord& /*record*/) {}
};

/// Refers to model, data and communicator, which outlive it.
///
/// With ranks each trainer has its own model that begins with the same values, and the same data and options. Each takes its
/// share of every part, in the order of ranks; labels, loss, gradients, and whether to stop are those of all ranks, and so is
/// what a step answers. Weights stay the same bits on all of them. One rank alone is what a trainer without ranks is, to the bit.
class Trainer {
 public:
  /// A UsageError where ranks cannot share a batch equally, or the model has running statistics.
  Trainer(Model& model, const Dataset& data, const TrainerOptions& options, Communicator& ranks = alone());
  ~Trainer();

  /// Before the first step of a fresh run: what an arrangement measures (Admin). Never after restore().
  void calibrate();
  /// The next update. NumericsError names step, first bad tensor and its place when it stops; everything is then as before.
  /// `stop`: this rank wants no further step; StepRecord::stop says whether any rank does. What one rank throws before ranks
  /// agree ends the step on all of them with an Error.
  StepRecord step(bool stop = false);

  std::int64_t steps() const;    ///< done, skipped ones included
  std::uint64_t labels() const;  ///< predicted so far
  const Optimizer& optimizer() const;

  /// All that the following steps depend on; parameters are shared, not copied.
  Snapshot snapshot();
  /// DataError where it is not of such a model and optimizer; then nothing has changed.
  void restore(const Snapshot& snapshot);
  /// The same tensor by tensor, with less memory. `record`: the trainer's own part of the file's. A file that cannot be read any
  /// more in the middle of it leaves a trainer that gives no snapshots.
  void restore(const CheckpointFile& file, const std::string& record);
  /// Where OnNan::rollback finds its way back: the last snapshot that is known to be good.
  void rollback_to(std::function<std::optional<Snapshot>()> last_good);
  /// The same by a function that calls restore() itself; false: there is nothing to go back to.
  void rollback_by(std::function<bool()> restore_last_good);
  void observe(TrainObserver* observer);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace addnorm
