#include "addnorm/model/placement.h"

#include <algorithm>
#include <cmath>

#include "addnorm/core/names.h"
#include "addnorm/residual/catalogue.h"
#include "core/figures.h"
#include "model/placement/trials.h"

namespace addnorm {
namespace {

using End = PlacementTrial::End;
using Ground = PlacementFinding::Ground;

// What the best placement must have over chance, and over all others.
constexpr double kMargin = 0.1;  // nats
constexpr double kErrors = 3;    // standard errors

bool clear(const placing::LossDifference& difference) { return difference.mean > kMargin && difference.errors > kErrors; }

std::string text_of_loss(double loss) { return std::isfinite(loss) ? loss_figure(loss) : "not finite"; }

/// Gains of the norms of units, and of the norm at the end.
struct Gains {
  double sum = 0, least = INFINITY, most = -INFINITY, exit = 0;
  std::size_t count = 0;
  bool all_one = true;
};

void add_gain(Gains& gains, const Parameter& p) {
  if (p.role != Role::norm_gain) return;
  const std::span<const float> values = p.value.value().values<float>();
  double mean = 0;
  for (const float v : values) {
    mean += std::abs(static_cast<double>(v)) / static_cast<double>(values.size());
    gains.all_one = gains.all_one && v == 1;
  }
  if (p.path.starts_with("exit")) {
    gains.exit = mean;
  } else if (p.path.starts_with("layers")) {
    gains.sum += mean;
    gains.least = std::min(gains.least, mean);
    gains.most = std::max(gains.most, mean);
    ++gains.count;
  }
}

class Detective {
 public:
  Detective(Model& model, const PlacementSample& sample, const std::function<bool()>& go_on)
      : model_(model), sample_(sample), go_on_(go_on) {}

  PlacementFinding found() {
    const std::vector<Stack*> stacks = model_.stacks();
    if (stacks.empty() || !has_tokens(model_.config().model)) {
      out_.configured = model_.config().arrangement;
      tell("the model has no stack with attention; nothing is compared");
      return std::move(out_);
    }
    residual_ = &stacks.front()->residual();
    out_.configured = residual_->arrangement().name;
    own_ = placing::unit_name(residual_->arrangement(), residual_->shape());
    const bool comparable = std::ranges::all_of(stacks, [](Stack* s) { return placing::has_one_norm_per_unit(s->residual()); });
    if (!comparable) {
      tell(out_.configured, " has other than one norm per unit: its weights fit no other placement, and none is tried");
      out_.behaves_as = out_.configured;
      out_.ground = Ground::norms;
      return std::move(out_);
    }
    tell_norms();
    const placing::Yardstick yardstick = placing::yardstick(model_, sample_);
    if (!yardstick.measure.empty()) try_all(yardstick);
    if (!settled_ && !out_.stopped) decide_by_norms();
    return std::move(out_);
  }

 private:
  bool exits() const { return residual_->arrangement().exit; }
  template <class... Parts>
  void tell(const Parts&... parts) {
    out_.evidence.push_back(concat(parts...));
  }
  template <class... Parts>
  void warn(const Parts&... parts) {
    out_.warnings.push_back(concat(parts...));
  }

  void tell_norms() {
    const Arrangement& row = residual_->arrangement();
    tell("one norm per unit", row.entry ? ", one of the embeddings" : "", exits() ? ", and one at the end" : ", none at the end",
         exits() ? ": pre-ln, norm-skip and res-post end in one" : ": post-ln needs none there");
    Gains gains;
    for (Stack* stack : model_.stacks()) for_each_parameter(stack->residual(), [&](Parameter& p) { add_gain(gains, p); });
    if (gains.count == 0) return;
    if (gains.all_one) return tell("all gains are exactly 1, as norms start: these weights were hardly trained");
    tell("gains of the units' norms are ", loss_figure(gains.sum / static_cast<double>(gains.count)), " on average (",
         loss_figure(gains.least), " ... ", loss_figure(gains.most), ")",
         exits() ? concat(", of the last norm ", loss_figure(gains.exit)) : "");
  }

  void try_all(const placing::Yardstick& yardstick) {
    out_.measure = yardstick.measure;
    auto tried = placing::run_trials(model_, sample_, go_on_);
    out_.stopped = !tried;
    if (!tried) return;
    tried_ = *std::move(tried);
    std::string losses;
    for (const placing::TriedPlacement& one : tried_) {
      out_.trials.push_back(one.trial);
      losses.append(losses.empty() ? "" : ", ").append(concat(name_of(one.trial), " ", text_of_loss(one.trial.loss)));
    }
    const PlacementTrial& best = out_.trials.front();
    tell("the same weights under each placement, ", yardstick.measure, ": ", losses, "; guessing has ",
         loss_figure(yardstick.guessing));
    if (!std::isfinite(best.loss) ||
        !clear(placing::difference(tried_.front().surprises.exchanged, tried_.front().surprises.own)))
      return tell("none does better than by chance (", text_of_loss(best.by_chance), "): the trials are inconclusive");
    settle(as_good_as_the_best());
  }

  /// The placements that no trial shows to be clearly worse than the best, best first.
  std::vector<std::string> as_good_as_the_best() const {
    std::vector<std::string> names;
    for (const placing::TriedPlacement& one : tried_) {
      const bool worse =
          !std::isfinite(one.trial.loss) || clear(placing::difference(one.surprises.own, tried_.front().surprises.own));
      if (!worse && std::ranges::find(names, one.trial.arrangement) == names.end()) names.push_back(one.trial.arrangement);
    }
    return names;
  }

  /// One of them: with gains near 1 norm-skip computes what post-ln does, and the norm at the end shows which it is.
  void settle(std::vector<std::string> names) {
    const auto has_own = [&] { return std::ranges::find(names, own_) != names.end(); };
    const bool own_is_as_good = has_own();
    if (names.size() > 1) {
      tell(listed(names),
           " do about as well: ", exits() ? "post-ln has no norm at the end" : "of these post-ln alone has no norm at the end");
      const auto fits = [&](const std::string& name) { return (name == "post-ln") != exits(); };
      if (std::ranges::any_of(names, fits)) std::erase_if(names, [&](const std::string& name) { return !fits(name); });
    }
    out_.agrees = has_own();
    if (!out_.agrees && own_is_as_good && names.size() > 1) return;  // trials neither refute the config nor show which it is
    out_.behaves_as = out_.agrees ? own_ : names.front();
    out_.ground = names.size() == 1 ? Ground::trials : Ground::norms;
    if (!out_.agrees) warn_of_placement(own_is_as_good);
    compare_ends();
    settled_ = true;
  }

  const placing::TriedPlacement& tried(const std::string& arrangement, End end) const {
    return *std::ranges::find_if(tried_, [&](const auto& t) { return t.trial.arrangement == arrangement && t.trial.end == end; });
  }

  double best_loss(const std::string& arrangement) const {
    return std::ranges::find_if(tried_, [&](const auto& t) { return t.trial.arrangement == arrangement; })->trial.loss;
  }

  void warn_of_placement(bool own_is_as_good) {
    const double configured = tried(own_, exits() ? End::normed : End::bare).trial.loss;
    const std::string both =
        concat(loss_figure(best_loss(out_.behaves_as)), " against ", text_of_loss(configured), " ", out_.measure);
    if (own_is_as_good)
      warn("the config says ", out_.configured, ", but the weights are ", out_.behaves_as, ": both do about as well (", both,
           "), and ", out_.behaves_as, exits() ? " ends in a norm, as they do" : " ends without a norm, as they do",
           "; correct the config");
    else
      warn("the config says ", out_.configured, ", but the weights behave as ", out_.behaves_as, ": ", both,
           "; correct the config");
  }

  /// Whether the norm at the end belongs there, and whether one is missing where a stack of this kind ends in one.
  void compare_ends() {
    const std::string& name = out_.behaves_as;
    const placing::TriedPlacement& bare = tried(name, End::bare);
    const placing::TriedPlacement& normed = tried(name, exits() ? End::normed : End::plain);
    const bool better_bare = clear(placing::difference(normed.surprises.own, bare.surprises.own));
    const bool better_normed = clear(placing::difference(bare.surprises.own, normed.surprises.own));
    const std::string both =
        concat(text_of_loss(normed.trial.loss), " with it, ", text_of_loss(bare.trial.loss), " without, ", out_.measure);
    // A norm that is in the file is meant to be used; without it logits are larger, which alone helps weights that are still
    // learning.
    if (exits() && better_bare && bare.trial.loss < normed.trial.loss / 2) {
      out_.agrees = false;
      warn("the weights do better without the norm at the end: ", both);
    }
    if (exits() || name == "post-ln") return;
    if (better_bare) return tell("they do better without a norm at the end than with a plain one: ", both);
    if (!better_normed && !meant_to_exit()) return;
    out_.agrees = false;
    out_.final_norm_missing = true;
    warn("the norm at the end is missing: ", name, " ends in one, and a plain one does as well or better (", both,
         "); its weights were lost");
  }

  /// What the arrangement by itself ends in, whatever the config adds.
  bool meant_to_exit() const { return arrangement_of(model_.config()).exit; }

  /// What is left where trials are inconclusive: an end without a norm is post-ln's, one with a norm that of all others.
  void decide_by_norms() {
    const bool is_post = own_ == "post-ln";
    const bool named = own_ == "pre-ln" || own_ == "norm-skip" || own_ == "res-post";
    out_.ground = Ground::norms;
    if (!is_post && !named) {
      out_.behaves_as = out_.configured;
      return;
    }
    if (is_post == !exits() || (named && !meant_to_exit())) {
      out_.behaves_as = own_;
      tell(own_, " by the norms that are there", is_post ? "" : "; how it differs from others that end so is not visible");
      return;
    }
    out_.agrees = false;
    out_.behaves_as = exits() ? "pre-ln" : "post-ln";
    out_.final_norm_missing = !exits();
    if (exits())
      warn("the config says ", out_.configured,
           ", whose last unit ends in a norm already, but the weights have one more at the end: ",
           "such are the norms of pre-ln; is the config right?");
    else
      warn("the config says ", out_.configured,
           ", which ends in a norm, but the weights have none at the end: it was lost, or these ", "are the norms of post-ln");
  }

  Model& model_;
  const PlacementSample& sample_;
  const std::function<bool()>& go_on_;
  Residual* residual_ = nullptr;
  std::string own_;
  std::vector<placing::TriedPlacement> tried_;
  bool settled_ = false;  // by trials
  PlacementFinding out_;
};

}  // namespace

std::string name_of(const PlacementTrial& trial) {
  if (trial.arrangement == "post-ln")
    return trial.end == End::bare ? trial.arrangement : trial.arrangement + " with one more norm at the end";
  if (trial.end == End::normed) return trial.arrangement;
  return trial.arrangement + (trial.end == End::bare ? " without a norm at the end" : " with a plain norm at the end");
}

PlacementFinding detect_placement(Model& model, const PlacementSample& sample, const std::function<bool()>& go_on) {
  constexpr const char* kWhere = "detect_placement";
  for (const Tokens* tokens : {&sample.tokens, &sample.target}) {
    if (tokens->ids.empty()) continue;
    require(!tokens->joined, kWhere, ": the sample's texts are joined; give them as padded rows");
    check(*tokens, model.config().seq_len, kWhere);
  }
  return Detective(model, sample, go_on).found();
}

const char* name_of(PlacementFinding::Ground ground) {
  switch (ground) {
    case Ground::norms:
      return "norms";
    case Ground::trials:
      return "trials";
    case Ground::none:
      break;
  }
  return "none";
}

}  // namespace addnorm
