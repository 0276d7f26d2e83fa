#include "cli/train/view.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numbers>
#include <ostream>

#include "addnorm/residual/diagram.h"
#include "cli/terminal/figures.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "cli/train/options.h"
#include "core/figures.h"

namespace addnorm::cli {
namespace {

double seconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double>(d).count(); }

constexpr int kNames = 14;            // columns that say what a line is about
constexpr std::size_t kColumns = 80;  // of a line on a terminal

std::string model_text(const RunPlan& plan) {
  const ModelConfig& m = plan.options.model;
  const bool pair = m.model == ModelKind::seq2seq;
  std::string text = concat(name_of(m.model), ", ", m.arrangement, ", ");
  text += pair ? concat(m.layers, " + ", m.decoder_layers, " layers") : counted(m.layers, "layer");
  text += concat(", d_model ", m.d_model);
  if (m.model != ModelKind::mlp) text += concat(", ", counted(m.heads, "head"), ", context ", counted(m.seq_len, "token"));
  return text + concat(": ", counted(plan.parameters, "parameter"));
}

std::string updates_text(const RunOptions& o) {
  const TrainerOptions t = trainer_options(o);
  const bool rows = o.model.model == ModelKind::mlp;
  std::string text = concat(grouped(o.steps), " of ", o.grad_accum > 1 ? concat(o.grad_accum, " x ") : "",
                            counted(o.batch_size, rows ? "row" : "sequence"), ", ", name_of(t.optimizer.kind), ", learning rate ",
                            o.lr, " ", name_of(t.schedule.kind));
  if (t.schedule.warmup > 0) text += concat(", the first ", t.schedule.warmup, " warm-up");
  if (o.label_smoothing > 0) text += concat(", label smoothing ", o.label_smoothing, " (the loss of steps includes it)");
  return text;
}

/// The loss per token of a predictor that knows only so much of the training data.
std::string baselines_text(const Baselines& b) {
  std::string text = "nats per token: ";
  const char* between = "";
  const auto add = [&](double value, const std::string& who) {
    if (!std::isfinite(value)) return;
    text += concat(between, fixed(value, 4), " ", who);
    between = ", ";
  };
  add(b.uniform, concat("guessing among ", std::llround(std::exp(b.uniform)), " different ones"));
  add(b.unigram, "by how often each comes");
  add(b.bigram, "by the one before it");
  add(b.floor, "for a perfect model");
  return text;
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
  print("memory", estimate.text());
}

void TrainView::on_plan(const RunPlan& plan) {
  print("model", model_text(plan));
  const std::string start = start_words(plan.options.model);
  print("start", terminal_of(STDERR_FILENO).unicode ? start : in_ascii(start));
  print("data", plan.data.summary);
  if (!plan.data.tokens.empty()) print("tokens", plan.data.tokens);
  if (plan.data.baselines) print("to compare", baselines_text(*plan.data.baselines));
  print("updates", updates_text(plan.options));
  for (const ParameterGroup& group : plan.groups)
    print(group.weight_decay > 0 ? "weight decay" : "no decay",
          concat(group.weight_decay > 0 ? concat(group.weight_decay, " on ") : "", counted(group.tensors, "tensor"), ", ",
                 counted(group.elements, "number")));
  const auto done = static_cast<std::uint64_t>(plan.first_step - 1);
  print("folder", folder_.string() + (done > 0 ? concat(", resumed after step ", grouped(done)) : ""));
  steps_ = static_cast<std::int64_t>(plan.options.steps);
  first_ = plan.first_step;
  log_every_ = static_cast<std::int64_t>(plan.options.log_every);
  bytes_per_label_ = plan.data.train->bytes_per_label();
  has_floor_ = plan.data.baselines && std::isfinite(plan.data.baselines->floor);
  if (has_floor_) floor_ = plan.data.baselines->floor;
  pairs_ = plan.data.pairs;
  classes_ = plan.options.model.model == ModelKind::classifier || plan.options.model.model == ModelKind::mlp;
  begun_ = Clock::now();
  if (first_ > steps_) return finished(plan.options);
  out_ << '\n';
  row(columns({}, 0), true);
}

void TrainView::finished(const RunOptions& o) {
  const bool follows = trainer_options(o).schedule.depends_on_steps();
  print("finished", concat("this run has done all of its ", counted(o.steps, "step"), "; for more, raise --steps",
                           follows ? concat(" and add --replan: its schedule (", name_of(o.schedule), ") depends on them") : ""));
}

/// A line about `what`; on a terminal several, the later ones below the text of the first.
void TrainView::print(const char* what, const std::string& text) {
  for (const std::string& line : wrapped(text, terminal_ ? kColumns - kNames : 0)) {
    out_ << std::left << std::setw(kNames) << what << std::right << line << '\n';
    what = "";
  }
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
  else if (!classes_)
    all.push_back({"perpl", 9, figure(std::exp(r.loss), 2)});
  all.push_back({"lr", 10, rate_text(r.learning_rate)});
  all.push_back({"|grad|", 9, figure(r.gradient_norm, 3)});
  all.push_back({classes_ ? "rows/s" : "tok/s", 8, short_count(line_items_ / past)});
  if (fma_peak_ > 0) all.push_back({"of peak", 9, fixed(100 * line_flops_ / past / fma_peak_, 0) + " %"});
  all.push_back({"left", 8, left < 360000 ? duration(left) : "days"});
  return all;
}

void TrainView::row(const std::vector<Column>& all, bool titles) {
  for (const Column& column : all) cell(titles ? column.title : column.value, column.width, &column == &all.front());
  out_ << '\n' << std::flush;
}

/// To the right of its column. One that fills it keeps a space to the one before.
void TrainView::cell(const std::string& text, int width, bool first) {
  out_ << (first || text.size() < static_cast<std::size_t>(width) ? "" : " ") << std::setw(width) << text;
}

void TrainView::line(const StepRecord& r, double left) {
  row(columns(r, left), false);
  line_items_ = line_flops_ = line_seconds_ = 0;
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
  line_items_ += static_cast<double>(classes_ ? r.labels : r.tokens);
  line_flops_ += r.flops;
  line_seconds_ += r.seconds;
  if (r.step == first_ || r.step % log_every_ == 0 || r.step == steps_) {
    wipe();
    line(r, eta(r.step, now));
  }
  if (terminal_ && r.step < steps_ && seconds(now - bar_time_) > 0.1) bar(r.step, now);
}

void TrainView::on_validation(std::int64_t step, const Evaluation& v, bool best) {
  wipe();
  cell(std::to_string(step), 7, true);
  cell(figure(v.loss, 4), 9, false);
  out_ << "  validation";
  if (std::isfinite(v.bits_per_byte())) out_ << ", " << fixed(v.bits_per_byte(), 4) << " bits/byte";
  out_ << ", " << fixed(100 * v.accuracy(), 1) << " % of " << (classes_ ? "samples" : "tokens");
  if (pairs_) out_ << ", " << fixed(100 * v.exact_match(), 1) << " % of answers";
  out_ << " right" << (best ? ", best" : "") << '\n' << std::flush;
}

void TrainView::on_warning(const std::string& message) {
  wipe();
  out_ << "warning: " << message << '\n' << std::flush;
}

bool TrainView::go_on() { return SignalWatch::caught() == 0; }

}  // namespace addnorm::cli
