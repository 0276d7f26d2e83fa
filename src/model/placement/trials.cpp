#include "model/placement/trials.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "addnorm/residual/catalogue.h"
#include "tensor/numbers.h"

namespace addnorm::placing {
namespace {

using End = PlacementTrial::End;

constexpr std::array kPlacements{"pre-ln", "post-ln", "norm-skip", "res-post"};
constexpr std::array kSlotNames{"in", "out", "post"};

bool same_unit(const UnitSlots& a, const UnitSlots& b) {
  const auto plain = [](const UnitSlots& s) {
    return s.a.is_one() && s.b.is_one() && s.in_scale.is_one() && !s.mid && s.head_gain == HeadGain::none;
  };
  return plain(a) && plain(b) && a.in == b.in && a.out == b.out && a.post == b.post && a.skip == b.skip;
}

/// "layers.0.self.in.weight" -> {"layers.0.self.post.weight", ...}: where the same norm may stand.
std::vector<std::string> places_of(const std::string& path) {
  std::vector<std::string> all{path};
  for (const char* from : kSlotNames) {
    const std::string slot = concat(".", from, ".");
    const std::size_t at = path.rfind(slot);
    if (at == std::string::npos) continue;
    for (const char* to : kSlotNames) all.push_back(std::string(path).replace(at, slot.size(), concat(".", to, ".")));
  }
  return all;
}

/// Another arrangement around the sub-layers of a stack, with the norms that were there; as before when it goes.
class Borrowed {
 public:
  Borrowed(Stack& stack, const Arrangement& row, bool own, End end) : stack_(stack) {
    const Residual& now = stack.residual();
    ResidualOptions options = now.options();
    if (!own) options.choices = {};
    options.final_norm = end != End::bare;
    options.embedding_norm = now.arrangement().entry;
    std::unique_ptr<Residual> other = make_residual(row, now.shape(), options);
    take_norms(stack.residual(), *other);
    kept_ = stack.exchange(std::move(other));
  }
  ~Borrowed() { stack_.exchange(std::move(kept_)); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

 private:
  static void take_norms(Residual& from, Residual& to) {
    std::map<std::string, Tensor> norms;
    for_each_parameter(from, [&](Parameter& p) { norms[p.path] = p.value.value(); });
    for_each_parameter(to, [&](Parameter& p) {
      for (const std::string& place : places_of(p.path))
        if (const auto found = norms.find(place); found != norms.end()) {
          p.value.value() = found->second;
          return;
        }
    });
  }
  Stack& stack_;
  std::unique_ptr<Residual> kept_;
};

Surprises surprises_under(Model& model, const PlacementSample& sample, const Arrangement& row, bool own, End end) {
  std::vector<std::unique_ptr<Borrowed>> borrowed;
  for (Stack* stack : model.stacks()) borrowed.push_back(std::make_unique<Borrowed>(*stack, row, own, end));
  return surprises_on(model, sample);
}

}  // namespace

std::string unit_name(const Arrangement& row, const StackShape& shape) {
  for (const char* name : kPlacements) {
    bool same = row.is_row();
    for (std::size_t i = 0; same && i < shape.units(); ++i)
      same = same_unit(row.slots(shape, shape.unit(i)), arrangement_named(name).unit);
    if (same) return name;
  }
  return row.name;
}

bool has_one_norm_per_unit(const Residual& residual) {
  const Arrangement& row = residual.arrangement();
  const NormFormula formula = residual.options().norm.formula;
  if (!row.is_row() || formula == NormFormula::none || formula == NormFormula::batch) return false;
  for (std::size_t i = 0; i < residual.shape().units(); ++i) {
    const UnitSlots& slots = row.slots(residual.shape(), residual.shape().unit(i));
    const auto fixed = [](const CoefficientRule& rule) { return rule.kind == CoefficientRule::Kind::fixed; };
    if (slots.in + slots.out + slots.post != 1 || slots.mid || slots.head_gain != HeadGain::none) return false;
    if (!fixed(slots.a) || !fixed(slots.b)) return false;
  }
  return true;
}

Yardstick yardstick(const Model& model, const PlacementSample& sample) {
  constexpr std::size_t kFewestTexts = 4;
  const ModelConfig& config = model.config();
  if (sample.tokens.ids.empty()) return {};
  if (config.model == ModelKind::lm) return {"nats per next token", std::log(static_cast<double>(config.vocab))};
  if (config.model == ModelKind::seq2seq && !sample.target.ids.empty())
    return {"nats per token of the target", std::log(static_cast<double>(config.target_vocab))};
  if (config.model != ModelKind::encoder) return {};
  if (config.head) return {"nats per hidden token", std::log(static_cast<double>(config.vocab))};
  const std::size_t texts = rows_with_halves(sample.tokens);
  if (texts < kFewestTexts) return {};
  return {"nats to find the second half of a text by its first", std::log(static_cast<double>(texts))};
}

/// 0 where the sample predicts nothing: trials are sorted by it.
double mean_or_zero(const std::vector<double>& values) { return values.empty() ? 0 : mean_of(values); }

std::optional<std::vector<TriedPlacement>> run_trials(Model& model, const PlacementSample& sample,
                                                      const std::function<bool()>& go_on) {
  const Residual& residual = model.stacks().front()->residual();
  const Arrangement configured = residual.arrangement();  // trials put others in its place
  const bool normed = configured.exit;
  const std::string own = unit_name(configured, residual.shape());
  std::vector<std::string> names(kPlacements.begin(), kPlacements.end());
  if (std::ranges::find(names, own) == names.end()) names.push_back(own);
  std::vector<TriedPlacement> trials;
  for (const std::string& name : names)
    for (const End end : {normed ? End::normed : End::bare, normed ? End::bare : End::plain}) {
      if (go_on && !go_on()) return std::nullopt;
      const bool is_own = name == own;
      const Arrangement& row = is_own ? configured : arrangement_named(name);
      Surprises found = surprises_under(model, sample, row, is_own, end);
      const bool finite = found.finite();
      trials.push_back({{.arrangement = name,
                         .end = end,
                         .configured = is_own && end == (normed ? End::normed : End::bare),
                         .loss = finite ? mean_or_zero(found.own) : std::numeric_limits<double>::infinity(),
                         .by_chance = finite ? mean_or_zero(found.exchanged) : std::numeric_limits<double>::infinity()},
                        std::move(found)});
    }
  std::ranges::stable_sort(trials, {}, [](const TriedPlacement& tried) { return tried.trial.loss; });
  return trials;
}

}  // namespace addnorm::placing
