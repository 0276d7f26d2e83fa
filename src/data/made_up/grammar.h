// Grammar: rules with probabilities, made into a table of states that one word after another leads through.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace addnorm {

/// left -> right with a probability; those of one left side add up to 1. What is no rule's left side is a word.
struct Rule {
  std::string left;
  double probability;
  std::vector<std::string> right;  ///< may be empty
};

/// A state is what is still to be written: a stack of symbols. Words that may follow a state come from different rules and lead
/// to different states, so the words so far determine the state (the grammar is LL(1)), and p(word | prefix) is exact.
class Grammar {
 public:
  static constexpr std::uint32_t kStart = 0;
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

  struct Step {
    std::int32_t word;
    double probability;
    std::uint32_t next;  ///< state
  };

  /// Words in the order of their numbers. A UsageError where a prefix would not determine the state, where probabilities do not
  /// add up to 1, a word is missing from `words`, or the states come to no end.
  Grammar(std::vector<std::string> words, const std::vector<Rule>& rules, const std::string& start);

  const std::vector<std::string>& words() const { return words_; }
  std::size_t states() const { return first_.size() - 1; }
  std::span<const Step> steps(std::uint32_t state) const {
    return std::span(steps_).subspan(first_[state], first_[state + 1] - first_[state]);
  }
  /// Where `word` leads, or kNowhere when it cannot follow.
  std::uint32_t after(std::uint32_t state, std::int32_t word) const;
  /// The step that u in [0, 1) falls on.
  const Step& pick(std::uint32_t state, double u) const;

 private:
  std::vector<std::string> words_;
  std::vector<std::size_t> first_;  // steps of state s: first_[s] ... first_[s + 1] - 1
  std::vector<Step> steps_;
};

}  // namespace addnorm
