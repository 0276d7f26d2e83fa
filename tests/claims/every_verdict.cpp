// Every judge on numbers that nobody measured. Verdicts with a meaning of their own are pinned in the files beside this one; here
// no claim is left out: each can be brought to true and to false, and a run that broke off makes none of them true.
#include <cmath>
#include <random>
#include <set>

#include "addnorm/core/error.h"
#include "lab/made_up.h"
#include "support/sanitizer.h"

namespace addnorm {
namespace {

constexpr std::size_t kMadeUpSeeds = 3;
constexpr int kTries = 100000;
constexpr int kBroken = test::kSanitized ? 30 : 300;  // a sanitizer looks at the same code again, ten times slower

/// Numbers that stand on either side of thresholds.
constexpr double kLevels[] = {0, 1e-13, 1e-4, 0.02, 0.2, 0.5, 0.97, 1, 1.2, 1.5, 2, 3, 8, 60, 300, -0.3, -0.5, -0.95, -1.5, -4};

class Judge {
 public:
  explicit Judge(const Claim& claim) : claim_(claim), random_(1) {}

  /// Other numbers: a few levels, and each series at one of them. Most thresholds are met by series that are equal, or by two
  /// kinds of them.
  void shuffle() {
    palette_.assign(random_() % 2, 1);  // of shares and ratios everybody asks for 1
    for (std::size_t i = 0, size = 1 + random_() % 3; i < size; ++i) palette_.push_back(kLevels[random_() % std::size(kLevels)]);
    for (auto& [name, values] : numbers_) values.assign(kMadeUpSeeds, level());
  }

  /// A judge says itself which series it misses.
  Finding verdict() {
    for (;;) try {
        return claim_.judge(made_up(numbers_)).finding;
      } catch (const UsageError& missing) {
        const std::string text = missing.what();
        const std::size_t begin = text.find('\'') + 1;
        numbers_.push_back({text.substr(begin, text.rfind('\'') - begin), std::vector<double>(kMadeUpSeeds, level())});
      }
  }

  Numbers& numbers() { return numbers_; }

 private:
  double level() { return palette_[random_() % palette_.size()]; }

  const Claim& claim_;
  std::mt19937_64 random_;
  std::vector<double> palette_;
  Numbers numbers_;
};

TEST(EveryVerdict, CanBeTrueAndFalse) {
  for (const Claim& claim : claims()) {
    Judge judge(claim);
    bool yes = false, no = false;
    for (int i = 0; i < kTries && !(yes && no); ++i) {
      judge.shuffle();
      const Finding finding = judge.verdict();
      yes = yes || finding == Finding::yes;
      no = no || finding == Finding::no;
    }
    EXPECT_TRUE(yes) << claim.id << " is never true";
    EXPECT_TRUE(no) << claim.id << " is never false";
  }
}

const std::set<std::string> kBrokenRunsCount{
    "S01", "S32",               // where one stack trains and another breaks off they have their answer
    "C7",  "C14", "C37", "S49"  // each at its best rate: one at which a run broke off is not it
};

TEST(EveryVerdict, IsNotMadeTrueByARunThatBrokeOff) {
  for (const Claim& claim : claims()) {
    if (kBrokenRunsCount.contains(claim.id)) continue;
    Judge judge(claim);
    for (int i = 0; i < kBroken; ++i) {
      judge.shuffle();
      if (judge.verdict() == Finding::yes) continue;
      for (std::size_t series = 0; series < judge.numbers().size(); ++series) {
        if (judge.numbers()[series].first.ends_with(", trained")) continue;  // a share, which is there whatever happens
        std::vector<double>& values = judge.numbers()[series].second;
        const double kept = std::exchange(values[0], std::nan(""));
        EXPECT_NE(judge.verdict(), Finding::yes) << claim.id << " by a NaN under '" << judge.numbers()[series].first << "'";
        judge.numbers()[series].second[0] = kept;
      }
    }
    for (auto& [name, values] : judge.numbers()) values.assign(kMadeUpSeeds, std::nan(""));
    EXPECT_NE(judge.verdict(), Finding::yes) << claim.id << " of nothing but NaN";
  }
}

}  // namespace
}  // namespace addnorm
