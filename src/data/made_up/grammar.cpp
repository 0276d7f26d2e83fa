#include "data/made_up/grammar.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "addnorm/core/error.h"

namespace addnorm {
namespace {

using Stack = std::vector<std::string>;  // the next symbol last

struct PossibleWord {
  std::string word;
  double probability;
  Stack rest;
};

class Expansion {
 public:
  explicit Expansion(const std::vector<Rule>& rules) {
    for (const Rule& rule : rules) rules_[rule.left].push_back(&rule);
    for (const auto& [left, all] : rules_) {
      double sum = 0;
      for (const Rule* rule : all) sum += rule->probability;
      require(std::abs(sum - 1) < 1e-12, "Grammar: the probabilities of ", left, " add up to ", sum, ", not 1");
    }
  }

  /// Every word that can come next, with what is then left to write.
  std::vector<PossibleWord> of(const Stack& stack) const {
    std::vector<PossibleWord> found;
    expand(stack, 1, 0, found);
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        require(found[i].word != found[j].word, "Grammar: two rules begin with '", found[i].word,
                "' in the same place, so a prefix would not determine the state");
    return found;
  }

 private:
  void expand(Stack stack, double probability, int depth, std::vector<PossibleWord>& found) const {
    require(!stack.empty(), "Grammar: the text can end; let its last rule begin again");
    require(depth < 1000, "Grammar: ", stack.back(), " can stand for itself without a word between");
    const std::string top = std::move(stack.back());
    stack.pop_back();
    const auto rules = rules_.find(top);
    if (rules == rules_.end()) {
      found.push_back({top, probability, std::move(stack)});
      return;
    }
    for (const Rule* rule : rules->second) {
      Stack longer = stack;
      longer.insert(longer.end(), rule->right.rbegin(), rule->right.rend());
      expand(std::move(longer), probability * rule->probability, depth + 1, found);
    }
  }

  std::map<std::string, std::vector<const Rule*>> rules_;
};

}  // namespace

Grammar::Grammar(std::vector<std::string> words, const std::vector<Rule>& rules, const std::string& start)
    : words_(std::move(words)) {
  constexpr std::size_t kMostStates = 1000;
  const Expansion expansion(rules);
  std::map<Stack, std::uint32_t> numbers{{Stack{start}, kStart}};
  std::vector<Stack> states{Stack{start}};
  for (std::size_t state = 0; state < states.size(); ++state) {
    first_.push_back(steps_.size());
    for (PossibleWord& outcome : expansion.of(Stack(states[state]))) {
      const auto word = std::ranges::find(words_, outcome.word);
      require(word != words_.end(), "Grammar: '", outcome.word, "' is neither a rule nor a word");
      const auto [at, fresh] = numbers.try_emplace(outcome.rest, static_cast<std::uint32_t>(states.size()));
      if (fresh) states.push_back(std::move(outcome.rest));
      require(states.size() <= kMostStates, "Grammar: more than ", kMostStates, " states; clauses nest without a bound");
      steps_.push_back({static_cast<std::int32_t>(word - words_.begin()), outcome.probability, at->second});
    }
  }
  first_.push_back(steps_.size());
}

std::uint32_t Grammar::after(std::uint32_t state, std::int32_t word) const {
  for (const Step& step : steps(state))
    if (step.word == word) return step.next;
  return kNowhere;
}

const Grammar::Step& Grammar::pick(std::uint32_t state, double u) const {
  const std::span<const Step> all = steps(state);
  for (const Step& step : all.first(all.size() - 1)) {
    if (u < step.probability) return step;
    u -= step.probability;
  }
  return all.back();
}

}  // namespace addnorm
