#include "addnorm/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "addnorm/tensor/arena.h"
#include "train/model_size.h"
#include "train/trainer/agreement.h"
#include "train/trainer/state.h"
#include "train/trainer/stream_check.h"

namespace addnorm {
namespace {

constexpr std::uint64_t kMostInARow = 3;  // skipped steps
constexpr std::uint64_t kMostRollbacks = 3;
constexpr double kBad = std::numeric_limits<double>::quiet_NaN();

/// Gradients and running statistics are changed long before a step is known to be good. Unless it is kept, they are put back,
/// without taking memory: also after a std::bad_alloc.
class Undo {
 public:
  Undo(Model& model, Optimizer& optimizer) : optimizer_(optimizer) {
    const OutsideArenaScopes outside;
    for_each_buffer(model, [&](const std::string&, Tensor& value) { statistics_.push_back({&value, value.clone()}); });
  }
  ~Undo() {
    optimizer_.clear_gradients();
    if (!kept_) put_back();
  }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

  void keep() { kept_ = true; }
  void put_back() {
    for (const Statistic& s : statistics_)
      dispatch(s.before.dtype(), [&](auto zero) {
        using T = decltype(zero);
        std::ranges::copy(s.before.values<T>(), s.value->values<T>().begin());
      });
  }

 private:
  struct Statistic {
    Tensor* value;  // inside the model
    Tensor before;
  };
  Optimizer& optimizer_;
  std::vector<Statistic> statistics_;
  bool kept_ = false;
};

/// " (init_std 50, branch_scale 2)": what was asked for beside the rule; "": nothing.
std::string numbers_of_start(const InitOptions& init, const FieldWords& words) {
  std::string text;
  const auto add = [&](const char* field, const std::optional<double>& value) {
    if (value) text += concat(text.empty() ? " (" : ", ", called(words, field), " ", *value);
  };
  add("init_std", init.deviation);
  add("embedding_std", init.embedding_std);
  add("position_std", init.position_std);
  if (init.branch_scale != 1) add("branch_scale", init.branch_scale);
  return text.empty() ? "" : text + ")";
}

}  // namespace

void check(const TrainerOptions& o) {
  const auto field = [&](bool ok, const char* name, auto value, const char* allowed) {
    require(ok, called(o.words, name), " is ", value, "; it must be ", allowed);
  };
  field(o.batch_size >= 1, "batch_size", 0, "at least 1");
  field(o.accumulate >= 1, "accumulate", 0, "at least 1");
  check(o.schedule, o.words);
  field(std::isfinite(o.spike_threshold) && o.spike_threshold >= 0, "spike_threshold", o.spike_threshold, "a number from 0 on");
  field(o.label_smoothing >= 0 && o.label_smoothing < 1, "label_smoothing", o.label_smoothing, "0 or more and below 1");
  field(std::isfinite(o.clip_grad_norm) && o.clip_grad_norm >= 0, "clip_grad_norm", o.clip_grad_norm,
        "a number from 0 on (0: no clipping)");
  check(o.optimizer, o.words);
}

struct Trainer::Impl {
  Impl(Model& m, const Dataset& d, const TrainerOptions& o, Communicator& r)
      : model(m),
        data(d),
        options(o),
        ranks(r),
        optimizer(make_optimizer(m, o.optimizer)),
        guard(GuardOptions{.spike = o.spike_threshold}) {}

  std::uint64_t samples() const { return options.batch_size * options.accumulate; }
  Pass pass() const {
    return {
        .train = true, .seed = options.seed, .step = static_cast<std::uint64_t>(state.step + 1), .recompute = options.recompute};
  }
  std::vector<Batch> parts() const;
  enum class Watched : unsigned char { by_nobody, by_the_observer, and_checked };
  double forward_backward(const std::vector<Batch>& parts, Watched watched);
  StepShare share_of(std::vector<Batch>& batch, std::optional<Undo>& undo);
  StepShare agreed_share(std::vector<Batch>& batch, std::optional<Undo>& undo, bool stop);
  StepRecord attempt(bool stop);
  std::string find_problem(const std::vector<Batch>& parts, const StepRecord& record);
  std::string first_bad_result(const std::vector<Batch>& parts, Watched watched);
  std::string what_may_help(std::int64_t step) const;
  void refuse_update(StepRecord& record, Verdict verdict, Guard after);
  void roll_back(StepRecord& record);

  Model& model;
  const Dataset& data;
  TrainerOptions options;
  Communicator& ranks;
  std::unique_ptr<Optimizer> optimizer;
  Guard guard;
  TrainerState state;
  std::function<bool()> restore_last_good;
  bool whole = true;  // false: a restore broke off
  TrainObserver* observer = nullptr;
};

/// Of this rank.
std::vector<Batch> Trainer::Impl::parts() const {
  const std::size_t share = options.batch_size / ranks.size();
  std::vector<Batch> all;
  for (std::size_t part = 0; part < options.accumulate; ++part)
    all.push_back(data.batch(state.next_sample + part * options.batch_size + ranks.rank() * share, share));
  return all;
}

/// The mean loss over all labels of these parts; gradients are left in the parameters.
double Trainer::Impl::forward_backward(const std::vector<Batch>& parts, Watched watched) {
  std::size_t labels = 0;
  for (const Batch& part : parts) labels += part.counted();
  double loss = 0;
  for (const Batch& part : parts) {
    const ArenaScope scope;
    StreamObservers streams;
    if (watched != Watched::by_nobody) observer->on_part(state.step + 1, part);
    if (watched != Watched::by_nobody) streams = observer->streams(state.step + 1);
    StreamCheck first(streams.stream, model.stacks().size() > 1 ? "encoder/" : "");
    StreamCheck second(streams.decoder, "decoder/");
    if (watched == Watched::and_checked) streams = {.stream = &first, .decoder = &second};
    const Var logits = batch_logits(model, part, pass(), streams);
    const Var mean =
        cross_entropy(logits, part.labels, {.ignore_index = kIgnoredLabel, .label_smoothing = options.label_smoothing});
    if (watched != Watched::by_nobody) observer->on_loss(state.step + 1, mean);
    // A part weighs as much as its labels: the mean of means would favour parts with few of them.
    const double weight = labels ? static_cast<double>(part.counted()) / static_cast<double>(labels) : 0;
    loss += weight * mean.value().item();
    backward(mean, Tensor::full(mean.shape(), weight));
    if (watched != Watched::by_nobody) observer->on_backward(state.step + 1);
  }
  return loss;
}

/// Forward and backward of this rank's samples.
StepShare Trainer::Impl::share_of(std::vector<Batch>& batch, std::optional<Undo>& undo) {
  batch = parts();
  StepShare share;
  for (const Batch& part : batch) {
    share.labels += part.counted();
    share.tokens += part.tokens();
    share.flops += flops_per_step(model.config(), shape_of(part));
  }
  optimizer->clear_gradients();
  undo.emplace(model, *optimizer);
  share.loss = forward_backward(batch, observer ? Watched::by_the_observer : Watched::by_nobody);
  return share;
}

/// The same of all ranks: the one place where they meet.
StepShare Trainer::Impl::agreed_share(std::vector<Batch>& batch, std::optional<Undo>& undo, bool stop) {
  if (ranks.size() == 1) {
    StepShare own = share_of(batch, undo);
    own.stop = stop;
    return own;
  }
  StepShare share;
  std::exception_ptr thrown;
  try {
    share = share_of(batch, undo);
    share.bad_parameter = !std::isfinite(optimizer->parameter_norm());
  } catch (...) {
    thrown = std::current_exception();
  }
  share.failed = thrown != nullptr;
  share.stop = stop;
  agree(ranks, model, share);
  if (thrown) std::rethrow_exception(thrown);
  if (share.failed) throw Error(concat("step ", state.step + 1, ": another rank failed, see its message; nothing was updated"));
  return share;
}

/// Whatever throws, everything is as before: what needs memory comes first, what counts the step last.
StepRecord Trainer::Impl::attempt(bool stop) {
  std::vector<Batch> batch;
  std::optional<Undo> undo;
  const StepShare share = agreed_share(batch, undo, stop);
  StepRecord record{.step = state.step + 1,
                    .loss = share.loss,
                    .learning_rate = options.schedule.at(state.step + 1),
                    .labels = share.labels,
                    .tokens = share.tokens,
                    .flops = share.flops,
                    .stop = share.stop};
  if (observer) observer->on_gradients(record.step, model);
  record.gradient_norm = optimizer->gradient_norm();

  Guard after = guard;
  // A bad weight may hide from the loss: -infinity that a ReLU turns into 0, the row of a token that is not in the batch.
  const double parameters = share.bad_parameter ? kBad : optimizer->parameter_norm();
  const Judgement judgement = after.judge(record.loss, std::isfinite(parameters) ? record.gradient_norm : parameters);
  if (judgement.verdict == Verdict::ok) {
    optimizer->step(record.learning_rate, clip_scale(record.gradient_norm, options.clip_grad_norm));
    undo->keep();
    guard = std::move(after);
    return record;
  }
  record.problem =
      judgement.verdict == Verdict::bad ? find_problem(batch, record) : concat("step ", record.step, ": ", describe(judgement));
  undo->put_back();
  refuse_update(record, judgement.verdict, std::move(after));
  undo->keep();  // a rollback has its own statistics
  return record;
}

/// What a person needs to know: the first tensor that is not a number, and where in the model it comes from.
std::string Trainer::Impl::find_problem(const std::vector<Batch>& parts, const StepRecord& record) {
  std::string text = concat("step ", record.step, ": ");
  if (const BadValue bad = first_bad_parameter(model); !bad.path.empty()) return concat(text, "parameter ", describe(bad));
  if (std::isfinite(record.loss))
    text += concat("the ", describe(first_bad_gradient(model)));
  else
    text += concat("the loss is ", std::isnan(record.loss) ? "nan" : concat(record.loss));
  std::string first = first_bad_result(parts, Watched::by_nobody);
  if (first.empty() && observer) first = first_bad_result(parts, Watched::and_checked);  // one that changes what it sees
  if (!first.empty())
    text += concat("; first seen: ", first);
  else if (!std::isfinite(record.loss))
    text += "; everything before it is finite";
  return text;
}

/// The step is a function of its inputs: run again, it fails at the same place. Empty: it does not fail.
std::string Trainer::Impl::first_bad_result(const std::vector<Batch>& parts, Watched watched) {
  try {
    const CheckFinite check;
    optimizer->clear_gradients();
    forward_backward(parts, watched);
  } catch (const NumericsError& first) {
    return first.what();
  }
  return "";
}

/// No rate is to blame for what happens before the first update.
std::string Trainer::Impl::what_may_help(std::int64_t step) const {
  constexpr std::int64_t kFirstSteps = 10;
  const std::string start = numbers_of_start(model.config().init, options.words);
  if (step == 1)
    return concat(
        "; nothing was updated yet, so it comes from how the weights start", start,
        with_fields_called(", or from the data. Smaller weights ({init_std}, {embedding_std}, {branch_scale}) or another "
                           "{init} may help",
                           options.words));
  const std::string weaker = step <= kFirstSteps ? concat("a weaker start", start, ", ") : "";
  return concat("; nothing was updated. A smaller learning rate, a longer warm-up, ", weaker, "or ",
                called(options.words, "on_nan"), " skip may help");
}

/// The step ends without an update, or the run ends, with everything as it was before.
void Trainer::Impl::refuse_update(StepRecord& record, Verdict verdict, Guard after) {
  const bool nan = verdict == Verdict::bad;
  const bool too_many = after.state().in_a_row >= kMostInARow;
  const bool back = nan ? options.on_nan == OnNan::rollback : too_many && restore_last_good;
  if (back) return roll_back(record);
  if (too_many) throw NumericsError(concat(record.problem, "; ", kMostInARow, " steps in a row could not be used"));
  if (nan && options.on_nan == OnNan::stop) throw NumericsError(concat(record.problem, what_may_help(record.step)));
  record.outcome = StepOutcome::skipped;
  guard = std::move(after);
}

void Trainer::Impl::roll_back(StepRecord& record) {
  const TrainerState now = state;
  if (state.rollbacks >= kMostRollbacks || !restore_last_good || !restore_last_good())
    throw NumericsError(concat(record.problem, state.rollbacks < kMostRollbacks ? "; there is no checkpoint to go back to"
                                                                                : "; going back three times did not help"));
  state.rollbacks = now.rollbacks + 1;
  state.next_sample = now.next_sample;  // on after the bad batch
  state.labels = now.labels;
  record.outcome = StepOutcome::rolled_back;
}

Trainer::Trainer(Model& model, const Dataset& data, const TrainerOptions& options, Communicator& ranks) {
  check(options);
  check_ranks(ranks, model, options.batch_size);
  impl_ = std::make_unique<Impl>(model, data, options, ranks);
}
Trainer::~Trainer() = default;

void Trainer::calibrate() { addnorm::calibrate(impl_->model, impl_->data.batch(0, impl_->options.batch_size), impl_->pass()); }

StepRecord Trainer::step(bool stop) {
  Impl& i = *impl_;
  const auto begin = std::chrono::steady_clock::now();
  StepRecord record = i.attempt(stop);
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  i.state.next_sample += i.samples();
  i.state.labels += record.labels;
  if (record.outcome != StepOutcome::rolled_back) i.state.step += 1;
  if (i.observer) i.observer->on_step(record);
  return record;
}

std::int64_t Trainer::steps() const { return impl_->state.step; }
std::uint64_t Trainer::labels() const { return impl_->state.labels; }
const Optimizer& Trainer::optimizer() const { return *impl_->optimizer; }
Snapshot Trainer::snapshot() {
  require(impl_->whole, "Trainer::snapshot: a restore broke off, what is here is a mixture; restore a good state first");
  return addnorm::snapshot(impl_->model, *impl_->optimizer, impl_->guard, impl_->state);
}
void Trainer::restore(const Snapshot& snapshot) {
  addnorm::restore(saved_state(snapshot), impl_->model, *impl_->optimizer, impl_->guard, impl_->state, impl_->whole);
}
void Trainer::restore(const CheckpointFile& file, const std::string& record) {
  addnorm::restore(saved_state(file, record), impl_->model, *impl_->optimizer, impl_->guard, impl_->state, impl_->whole);
}
void Trainer::rollback_to(std::function<std::optional<Snapshot>()> last_good) {
  rollback_by([this, last_good = std::move(last_good)] {
    const std::optional<Snapshot> good = last_good();
    if (good) restore(*good);
    return good.has_value();
  });
}
void Trainer::rollback_by(std::function<bool()> restore_last_good) { impl_->restore_last_good = std::move(restore_last_good); }
void Trainer::observe(TrainObserver* observer) { impl_->observer = observer; }

}  // namespace addnorm
