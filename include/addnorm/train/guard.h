// Guard: looks at the loss and the gradient norm of a step before anything is changed by it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace addnorm {

struct GuardOptions {
  double spike = 0;  ///< deviations above the mean from which on a value is a spike; 0: only NaN and infinity are looked for
  std::size_t window = 128;  ///< steps that mean and deviation are taken of
  std::size_t least = 64;    ///< values before a spike can be detected, 2 ... window
};
/// A UsageError names the field, its value and what is allowed.
void check(const GuardOptions& options);

enum class Verdict : unsigned char {
  ok,
  bad,    ///< loss or gradient norm is NaN or infinite
  spike,  ///< far above what it was
};

/// Why: for a person.
struct Judgement {
  Verdict verdict = Verdict::ok;
  bool gradient = false;  ///< it is the gradient norm, not the loss
  double value = 0;
  double mean = 0;       ///< spike: of the window
  double deviation = 0;  ///< spike: of the window, at least 1 % of the mean
};
/// "loss is nan"; "gradient norm 210 is 41.2 deviations above 1.9, its mean over the last good steps"; "ok".
std::string describe(const Judgement& judgement);

/// All that the next verdict depends on. Plain data: a checkpoint holds it.
struct GuardState {
  std::vector<double> losses{};  ///< of the last steps that were ok, oldest first; empty while no spikes are looked for
  std::vector<double> norms{};   ///< of the same steps
  std::size_t in_a_row = 0;      ///< steps up to now that were not ok
  std::size_t bad = 0;           ///< of all steps
  std::size_t spikes = 0;        ///< of all steps
};
template <class Io>
void fields(Io& io, GuardState& state) {
  io("losses", state.losses);
  io("norms", state.norms);
  io("in_a_row", state.in_a_row);
  io("bad", state.bad);
  io("spikes", state.spikes);
}

/// Mean and deviation are computed from the window at every step, and only steps that were ok enter it: a NaN or a spike
/// changes no later verdict, and there are no running sums to go wrong. A value is a spike when it is more than `spike`
/// deviations above the mean; where the window hardly varies, a deviation counts as 1 % of the mean. Small values never are.
class Guard {
 public:
  explicit Guard(const GuardOptions& options = {}, GuardState state = {});

  /// The verdict on a step; counts it, and takes its values into the window if it is ok.
  Judgement judge(double loss, double gradient_norm);
  const GuardState& state() const { return state_; }
  void restore(GuardState state) { *this = Guard(options_, std::move(state)); }

 private:
  GuardOptions options_;
  GuardState state_;
};

}  // namespace addnorm
