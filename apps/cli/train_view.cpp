#include "train_view.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numbers>
#include <ostream>

#include "figures.h"
#include "signals.h"

namespace addnorm::cli {
namespace {

double seconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double>(d).count(); }

void told(std::ostream& out, const char* what, const std::string& text) {
  out << std::left << std::setw(14) << what << std::right << text << '\n';
}

std::string model_text(const RunPlan& plan) {
  const ModelConfig& m = plan.options.model;
  std::string text = concat(name_of(m.model), ", ", m.arrangement, ", ", m.layers,
                            m.model == ModelKind::seq2seq ? concat(" + ", m.decoder_layers) : "", " layers, d_model ", m.d_model);
  if (m.model != ModelKind::mlp) text += concat(", ", m.heads, " heads, ", m.seq_len, " tokens");
  return text + concat(": ", grouped(plan.parameters), " parameters");
}

std::string updates_text(const RunOptions& o) {
  const TrainerOptions t = trainer_options(o);
  std::string text = concat(grouped(o.steps), " of ", o.batch_size, o.grad_accum > 1 ? concat(" x ", o.grad_accum) : "",
                            " sequences, ", name_of(t.optimizer.kind), ", learning rate ", o.lr, " ", name_of(t.schedule.kind));
  if (t.schedule.warmup > 0) text += concat(", ", t.schedule.warmup, " of them warm-up");
  if (o.label_smoothing > 0) text += concat(", label smoothing ", o.label_smoothing, " (the loss of steps includes it)");
  return text;
}

std::string baselines_text(const Baselines& b) {
  std::string text;
  const auto add = [&](const char* name, double value) {
    if (std::isfinite(value)) text += concat(text.empty() ? "" : ", ", name, " ", fixed(value, 4));
  };
  add("uniform", b.uniform);
  add("unigram", b.unigram);
  add("bigram", b.bigram);
  add("floor", b.floor);
  return text + " nats per token";
}

}  // namespace

TrainView::TrainView(std::ostream& out, bool terminal, double fma_peak, std::filesystem::path folder)
    : out_(out), terminal_(terminal), fma_peak_(fma_peak), folder_(std::move(folder)) {}

void TrainView::on_data(double share) {
  const auto now = Clock::now();
  if (begun_ == Clock::time_point{}) begun_ = bar_time_ = now;
  if (!terminal_ || seconds(now - begun_) < 0.5 || seconds(now - bar_time_) < 0.1) return;
  out_ << "\rreading the data: " << fixed(100 * share, 0) << " %\x1b[K" << std::flush;
  bar_shown_ = true;
  bar_time_ = now;
}

void TrainView::on_memory(const MemoryEstimate& estimate) {
  wipe();
  told(out_, "memory", estimate.text());
}

void TrainView::on_plan(const RunPlan& plan) {
  told(out_, "model", model_text(plan));
  told(out_, "data", plan.data.told);
  if (plan.data.baselines) told(out_, "to compare", baselines_text(*plan.data.baselines));
  told(out_, "updates", updates_text(plan.options));
  for (const ParameterGroup& group : plan.groups)
    told(out_, group.weight_decay > 0 ? "weight decay" : "no decay",
         concat(group.weight_decay > 0 ? concat(group.weight_decay, " on ") : "", group.tensors, " tensors, ",
                grouped(group.elements), " numbers"));
  told(out_, "folder",
       concat(folder_.string(), plan.first_step > 1
                                    ? concat(", resumed after step ", grouped(static_cast<std::uint64_t>(plan.first_step - 1)))
                                    : ""));
  steps_ = static_cast<std::int64_t>(plan.options.steps);
  first_ = plan.first_step;
  log_every_ = static_cast<std::int64_t>(plan.options.log_every);
  flops_ = plan.flops_per_step;
  bytes_per_label_ = plan.data.train->bytes_per_label();
  has_floor_ = plan.data.baselines && std::isfinite(plan.data.baselines->floor);
  if (has_floor_) floor_ = plan.data.baselines->floor;
  classes_ = plan.options.model.model == ModelKind::classifier || plan.options.model.model == ModelKind::mlp;
  out_ << '\n';
  row(columns({}, 0), true);
  begun_ = Clock::now();
}

double TrainView::eta(std::int64_t step, Clock::time_point now) const {
  const auto done = static_cast<double>(step - first_ + 1);
  return done > 0 ? seconds(now - begun_) / done * static_cast<double>(steps_ - step) : NAN;
}

std::vector<TrainView::Column> TrainView::columns(const StepRecord& r, double left) const {
  const double past = std::max(line_seconds_, 1e-9);
  std::vector<Column> all{{"step", 7, std::to_string(r.step)}, {"loss", 9, figure(r.loss, 4)}};
  if (has_floor_) all.push_back({"to floor", 10, figure(r.loss - floor_, 4)});
  if (bytes_per_label_ > 0)
    all.push_back({"bits/byte", 11, figure(r.loss / std::numbers::ln2 / bytes_per_label_, 4)});
  else
    all.push_back({"perpl", 9, figure(std::exp(r.loss), 2)});
  all.push_back({"lr", 10, rate_text(r.learning_rate)});
  all.push_back({"|grad|", 9, figure(r.gradient_norm, 3)});
  all.push_back({classes_ ? "rows/s" : "tok/s", 8, short_count(line_labels_ / past)});
  if (fma_peak_ > 0) all.push_back({"of peak", 9, fixed(100 * flops_ * line_steps_ / past / fma_peak_, 0) + " %"});
  all.push_back({"left", 8, duration(left)});
  return all;
}

void TrainView::row(const std::vector<Column>& all, bool titles) {
  for (const Column& column : all) out_ << std::setw(column.width) << (titles ? column.title : column.value.c_str());
  out_ << '\n' << std::flush;
}

void TrainView::line(const StepRecord& r, double left) {
  row(columns(r, left), false);
  line_steps_ = line_labels_ = line_seconds_ = 0;
}

void TrainView::bar(std::int64_t step, Clock::time_point now) {
  constexpr int kWidth = 24;
  const int full = steps_ > 0 ? static_cast<int>(kWidth * step / steps_) : 0;
  out_ << "\r[" << std::string(static_cast<std::size_t>(full), '#') << std::string(static_cast<std::size_t>(kWidth - full), '-')
       << "] " << step << "/" << steps_ << ", " << duration(eta(step, now)) << " left\x1b[K" << std::flush;
  bar_shown_ = true;
  bar_time_ = now;
}

void TrainView::wipe() {
  if (bar_shown_) out_ << "\r\x1b[K";
  bar_shown_ = false;
}

void TrainView::on_step(const StepRecord& r) {
  const auto now = Clock::now();
  line_steps_ += 1;
  line_labels_ += static_cast<double>(r.labels);
  line_seconds_ += r.seconds;
  if (r.step == first_ || r.step % log_every_ == 0 || r.step == steps_) {
    wipe();
    line(r, eta(r.step, now));
  }
  if (terminal_ && r.step < steps_ && seconds(now - bar_time_) > 0.1) bar(r.step, now);
}

void TrainView::on_validation(std::int64_t step, const Evaluation& v, bool best) {
  wipe();
  out_ << std::setw(7) << step << std::setw(9) << figure(v.loss, 4) << "  on validation data";
  if (std::isfinite(v.bits_per_byte())) out_ << ", " << fixed(v.bits_per_byte(), 4) << " bits per byte";
  out_ << ", " << fixed(100 * v.accuracy(), 1) << " % of " << (classes_ ? "samples" : "tokens") << " right"
       << (best ? ", the best so far" : "") << '\n'
       << std::flush;
}

void TrainView::on_warning(const std::string& message) {
  wipe();
  out_ << "warning: " << message << '\n' << std::flush;
}

bool TrainView::go_on() { return SignalWatch::caught() == 0; }

}  // namespace addnorm::cli
