// The first sentence of a grid: what decides whether something trains, as far as rows that differ in one factor say it.
#include <algorithm>
#include <array>
#include <optional>

#include "addnorm/core/error.h"
#include "lab/grid/settings.h"
#include "lab/outcome/confirm.h"

namespace addnorm {
namespace {

constexpr const char* kStart = "start";  // weights and embeddings together, where neither was changed by itself

/// What may decide: "by warm-up".
struct Decider {
  const char* factor;  ///< of TriedChange
  const char* option;
  const char* by;
};
constexpr std::array kDeciders{Decider{kPlacement, "arrangement", "placement"},
                               Decider{kPlacementAndStart, "arrangement", "placement and start together"},
                               Decider{"weights", kWeights, "weights"},
                               Decider{"embeddings", kEmbeddings, "embeddings"},
                               Decider{kStart, kWeights, "the start"},
                               Decider{"warm-up", "warmup_steps", "warm-up"},
                               Decider{"rate", "lr", "the rate"},
                               Decider{"depth", "layers", "depth"}};

const Decider& decider_named(std::string_view factor) {
  return *std::ranges::find_if(kDeciders, [&](const Decider& one) { return one.factor == factor; });
}

/// One factor that cures some rows, and the rows of the same arrangements that have it changed.
struct DecidingChange {
  const Decider* decider;
  std::string change;             ///< "gpt2 weights"; of a placement all that train: ""
  std::vector<std::size_t> rows;  ///< that train; of a placement none
};

/// Rows of a setting that fail, and that the same changes cure.
struct Decided {
  const Setting* setting = nullptr;
  std::vector<std::size_t> rows{};
  std::vector<DecidingChange> by{};
  Texts placements{};  ///< that train where these rows do not
};

class Headline {
 public:
  Headline(const GridResult& result, const GridChanges& changes) : result_(result), changes_(changes) {}

  /// What most factors decide; of equals, what is said of most arrangements.
  std::string of(const std::vector<Setting>& settings) const {
    Decided best;
    for (const Setting& setting : settings)
      for (Decided& one : decided_in(setting))
        if (one.by.size() > best.by.size() || (one.by.size() == best.by.size() && one.rows.size() > best.rows.size()))
          best = std::move(one);
    if (best.by.empty()) return "";
    keep_placements_that_train_throughout(best);
    return sentence(best);
  }

 private:
  const RowResult& row(std::size_t index) const { return result_.rows[index]; }

  // What is decided.

  /// Changes that are no cures of one factor, and decide nevertheless: fewer layers, and another start as a whole.
  void add_more(std::size_t failed, std::vector<TriedChange>& all) const {
    const auto is_of_start = [](const TriedChange& one) {
      return one.cures() && (one.factor == "weights" || one.factor == "embeddings");
    };
    const bool start_decides = std::ranges::any_of(all, is_of_start);
    for (std::size_t other = 0; other < result_.rows.size(); ++other) {
      if (!has_trained(row(other))) continue;
      const Texts differ = changes_.between(failed, other);
      const bool fewer = differ == Texts{"layers"} && changes_.number(other, "layers") < changes_.number(failed, "layers");
      if (!fewer && (start_decides || differ != Texts{kWeights, kEmbeddings})) continue;
      const Decider& decider = decider_named(fewer ? "depth" : kStart);
      all.push_back({.factor = decider.factor, .change = state_of(decider, other), .trained = row(other).trained});
      all.back().done = row(other).done;
      all.back().row = other;
    }
  }

  Decided decided(const Setting& setting, std::size_t failed) const {
    Decided one{.setting = &setting, .rows = {failed}};
    std::vector<TriedChange> all = changes_tried(result_, changes_, failed);
    add_more(failed, all);
    for (const Decider& decider : kDeciders) {
      const auto cures = [&](const TriedChange& tried) { return tried.factor == decider.factor && tried.cures(); };
      const auto first = std::ranges::find_if(all, cures);
      const bool is_placement = decider.option == std::string_view("arrangement");
      if (first == all.end() || (is_placement && !one.placements.empty())) continue;
      one.by.push_back({&decider, is_placement ? "" : first->change, {}});
      if (!is_placement) one.by.back().rows.push_back(first->row);
      for (const TriedChange& tried : all)
        if (is_placement && cures(tried)) one.placements.push_back(row(tried.row).arrangement);
    }
    return one;
  }

  std::vector<Decided> decided_in(const Setting& setting) const {
    std::vector<Decided> all;
    for (const std::size_t failed : setting.rows) {
      if (!has_failed(row(failed)) || row(failed).slow()) continue;
      Decided one = decided(setting, failed);
      const auto alike = std::ranges::find_if(all, [&](const Decided& other) { return is_alike(one, other); });
      if (alike == all.end()) {
        all.push_back(std::move(one));
        continue;
      }
      alike->rows.push_back(failed);
      for (std::size_t i = 0; i < one.by.size(); ++i)
        alike->by[i].rows.insert(alike->by[i].rows.end(), one.by[i].rows.begin(), one.by[i].rows.end());
    }
    return all;
  }

  static bool is_alike(const Decided& one, const Decided& other) {
    const auto same = [](const DecidingChange& a, const DecidingChange& b) {
      return a.decider == b.decider && a.change == b.change;
    };
    return one.placements == other.placements && std::ranges::equal(one.by, other.by, same);
  }

  /// The row of this placement that differs from another one in nothing else.
  const RowResult* beside(std::size_t index, const std::string& placement) const {
    for (std::size_t other = 0; other < result_.rows.size(); ++other)
      if (row(other).arrangement == placement && row(other).done > 0 && changes_.between(index, other) == Texts{"arrangement"})
        return &row(other);
    return nullptr;
  }

  /// Whether the rows of a change and all of these placements beside them train, as far as they were run; nothing: none was.
  std::optional<bool> all_train(const DecidingChange& change, const Texts& placements) const {
    std::optional<bool> all;
    for (const std::string& placement : placements) {
      const RowResult* other = change.rows.empty() ? nullptr : beside(change.rows.front(), placement);
      if (!other) return std::nullopt;
      all = all.value_or(true) && has_trained(*other);
    }
    return all;
  }

  void keep_placements_that_train_throughout(Decided& one) const {
    Texts kept;
    for (const std::string& placement : one.placements)
      if (std::ranges::any_of(one.by, [&](const DecidingChange& change) { return all_train(change, {placement}) == true; }))
        kept.push_back(placement);
    if (!kept.empty()) one.placements = std::move(kept);
  }

  // What is said of it.

  /// "from xavier weights", "without warm-up".
  std::string state_of(const Decider& decider, std::size_t index) const {
    const std::string value = changes_.value(index, decider.option), factor = decider.factor;
    if (factor == "weights") return "from " + row(index).start.weights_in_words;
    if (factor == kStart)
      return concat(state_of(decider_named("weights"), index), " and ", state_of(decider_named("embeddings"), index).substr(5));
    if (factor == "embeddings") return "with embeddings of " + value;
    if (factor == "warm-up") return value == "0" ? "without warm-up" : concat("with ", value, " warm-up steps");
    return factor == "rate" ? "at a rate of " + value : concat("with ", value, " layers");
  }

  /// " (1 seed each)"; " (norm-skip: 2 of 3 seeds)" where the others agree; "": all do.
  std::string seeds_of(const std::vector<std::size_t>& rows) const {
    Texts notes, named;
    for (const std::size_t index : rows) {
      const RowResult& one = row(index);
      notes.push_back(seeds_note(has_trained(one) ? one.trained : one.done - one.trained - one.too_short, one.done));
      if (!notes.back().empty()) named.push_back(concat(one.arrangement, ": ", notes.back()));
    }
    if (named.empty()) return "";
    const auto others = std::ranges::count(notes, notes.front());
    if (static_cast<std::size_t>(others) < notes.size()) return concat(" (", joined(named), ")");
    return concat(" (", notes.front(), notes.size() > 1 ? " each)" : ")");
  }

  std::string failing(const Decided& one) const {
    std::string text;
    for (const DecidingChange& change : one.by)
      if (!change.rows.empty()) text += state_of(*change.decider, one.rows.front()) + " ";
    text += one.rows.size() == 1 ? "it does not" : "they do not";
    if (!one.placements.empty()) text += concat(" where ", joined(one.placements), one.placements.size() == 1 ? " does" : " do");
    return text + seeds_of(one.rows);
  }

  std::string training(const Decided& one, const DecidingChange& change) const {
    const bool all = all_train(change, one.placements) == true;
    const char* own = one.rows.size() == 1 ? " it does" : " they do";
    const char* every = one.rows.size() + one.placements.size() == 2 ? " both train" : " all train";
    return concat(state_of(*change.decider, change.rows.front()), all ? every : own, seeds_of(change.rows));
  }

  /// Rows of these arrangements with the same values of what decides as this one, of which some did otherwise.
  bool holds_everywhere(const Decided& one, std::size_t like, bool trains, const Texts& placements) const {
    for (std::size_t other = 0; other < result_.rows.size(); ++other) {
      const auto same = [&](const DecidingChange& change) {
        return change.rows.empty() || state_of(*change.decider, other) == state_of(*change.decider, like);
      };
      if (!(has_trained(row(other)) || has_failed(row(other))) || !std::ranges::all_of(one.by, same)) continue;
      const auto is_named = [&](std::size_t index) { return row(index).arrangement == row(other).arrangement; };
      if (std::ranges::any_of(one.rows, is_named) && has_trained(row(other)) != trains) return false;
      if (std::ranges::find(placements, row(other).arrangement) != placements.end() && !has_trained(row(other))) return false;
    }
    return true;
  }

  /// " (24 layers)" where all this is not so in other settings.
  std::string where(const Decided& one) const {
    bool general = holds_everywhere(one, one.rows.front(), false, one.placements);
    for (const DecidingChange& change : one.by)
      if (!change.rows.empty()) {
        const bool all = all_train(change, one.placements) == true;
        general = general && holds_everywhere(one, change.rows.front(), true, all ? one.placements : Texts{});
      }
    const std::string where = general ? "" : what_is_not_said(one);
    return where.empty() ? "" : concat(" (", where, ")");
  }

  /// Of the setting, without the words of what decides.
  std::string what_is_not_said(const Decided& one) const {
    std::string where = one.setting->where + ", ";
    for (const DecidingChange& change : one.by)
      if (!change.rows.empty())
        for (const std::string& words : label_words(*change.decider, one.rows.front()))
          if (const std::size_t at = where.find(words + ", "); at != std::string::npos) where.erase(at, words.size() + 2);
    return where.substr(0, std::max<std::size_t>(where.size(), 2) - 2);
  }

  Texts label_words(const Decider& decider, std::size_t index) const {
    const std::string factor = decider.factor, value = changes_.value(index, decider.option),
                      weights = row(index).start.weights_in_words, embeddings = "embeddings " + row(index).start.embeddings;
    if (factor == kStart) return {weights, embeddings};
    if (factor == "weights") return {weights};
    if (factor == "embeddings") return {embeddings};
    if (factor == "warm-up") return {value == "0" ? "no warm-up" : value + " warm-up steps"};
    return {factor == "rate" ? "lr " + value : value + " layers"};
  }

  std::string sentence(const Decided& one) const {
    Texts names, by, parts{failing(one)};
    for (const std::size_t index : one.rows) names.push_back(row(index).arrangement);
    for (const DecidingChange& change : one.by) {
      by.push_back(concat("by ", change.decider->by));
      if (!change.rows.empty()) parts.push_back(training(one, change));
    }
    std::string text =
        concat("Whether ", joined(names), names.size() == 1 ? " trains" : " train", " is decided ", joined(by), ": ");
    for (std::size_t i = 0; i < parts.size(); ++i) text += concat(i == 0 ? "" : ", ", parts[i]);
    return text + where(one) + ".";
  }

  const GridResult& result_;
  const GridChanges& changes_;
};

}  // namespace

std::string headline_of(const GridResult& result, const GridChanges& changes, const std::vector<Setting>& settings) {
  return Headline(result, changes).of(settings);
}

}  // namespace addnorm
