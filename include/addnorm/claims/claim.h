// Claims: what texts and papers say of residual connections and norms, each with the experiment that looks at it.
//
//   for (const Claim& claim : claims()) std::cout << claim.id << ' ' << run_claim(claim).verdict_text << '\n';
//
// How to add one: docs/adding-a-claim.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/core/error.h"

namespace addnorm {

/// Numbers of an experiment by name, one per seed.
class Samples {
 public:
  struct Series {
    std::string name;
    std::vector<double> values;
  };

  void add(std::string_view name, double value);
  const std::vector<Series>& all() const { return series_; }
  bool has(std::string_view name) const;
  const std::vector<double>& of(std::string_view name) const;  ///< an unknown name is a UsageError

  double mean(std::string_view name) const;
  double spread(std::string_view name) const;  ///< standard deviation over seeds, divided by n - 1; 0 of one value
  double least(std::string_view name) const;   ///< NaN where one of them is
  double most(std::string_view name) const;
  /// "0.0123 ± 0.0005", three digits; without spread where all seeds agree but for rounding.
  std::string text(std::string_view name) const;
  /// "2 of 3 seeds": of a series of 0 and 1, such as whether a run trained.
  std::string seeds_text(std::string_view name) const;

 private:
  std::vector<Series> series_;
};

/// S: a statement of one of the four texts that this project began with. C: a published claim.
enum class ClaimKind : unsigned char { statement, published };

/// What the numbers say. In words: "true", "true only if ...", "false" of a statement (of one that is decided under some weights
/// only "true with ..." or "false with ..."); "seen at this scale", "mixed", "not seen"
/// of a published claim, which a small experiment cannot refute; "not decided" where the numbers allow neither.
enum class Finding : unsigned char { yes, partly, no, open };

struct ClaimVerdict {
  Finding finding = Finding::no;
  std::string condition{};  ///< of `partly`: under which it is true; where rules of initialisation disagree, how
  std::string measured{};   ///< the numbers in a sentence
};

/// The rules of initialisation (addnorm/residual/init_spec.h) under which a claim that compares is measured, one after the other.
inline constexpr std::array kClaimInits{"xavier", "gpt2"};
/// "Xavier's", "GPT-2's"; of any other rule its name.
std::string whose_weights(std::string_view init);

/// Thrown out of an experiment when go_on says no.
class ClaimStopped : public Error {
 public:
  using Error::Error;
};

/// What an experiment is given.
struct ClaimContext {
  double scale = 1;  ///< of training steps
  std::vector<std::uint64_t> seeds{};
  std::function<bool()> go_on{};      ///< asked between steps
  std::filesystem::path runs{};       ///< where finished training runs are kept for other claims; empty: in memory
  std::string init = kClaimInits[0];  ///< the rule by which all that is compared starts

  std::int64_t steps(std::int64_t at_scale_one) const;  ///< at least 1
  void check() const;                                   ///< ClaimStopped unless go_on
};

/// Another claim whose verdict seems to contradict this one.
struct SeeAlso {
  std::string id;
  std::string why;  ///< how both can hold, in a sentence; the other claim has one too
};

/// Since when a verdict is another one.
enum class VerdictSince : unsigned char {
  held_equal,         ///< all that is compared starts alike
  measured_again,     ///< the same was measured again, and lies near its own line
  seeds_by_one_rule,  ///< some seeds that trained, and some that did not, decide nothing in any claim
  asked_otherwise,    ///< the experiment or what is looked for was another one
};
/// "before the initialisation was held equal".
const char* text_of(VerdictSince since);

/// What the verdict was before.
struct EarlierVerdict {
  std::string verdict{};  ///< "": it was the same
  std::string why{};      ///< it is another one now
  VerdictSince since = VerdictSince::held_equal;
};

struct Claim {
  std::string id;         ///< "S07", "C3"
  std::string statement;  ///< in our words
  std::string source;     ///< text and place, or paper
  std::string expected;   ///< the signature looked for, with its numbers
  std::string changed{};  ///< what was changed in the experiment or its thresholds after numbers had been seen, and what they
                          ///< were; "": nothing
  EarlierVerdict earlier{};
  std::vector<SeeAlso> see{};
  bool compares = false;  ///< things whose outcome may depend on how weights start: measured under each of kClaimInits
  std::string start{};    ///< how weights start where no rule says it, or what has its own start; "": nothing to say
  bool trains = false;    ///< else it looks at initialisation only, and takes seconds
  std::size_t seeds = 10;
  /// Numbers only; they alone decide. Both may be called by anyone: tests hand made-up numbers to every judge.
  std::function<Samples(const ClaimContext&)> measure{};
  std::function<ClaimVerdict(const Samples&)> judge{};

  ClaimKind kind() const { return id.starts_with('S') ? ClaimKind::statement : ClaimKind::published; }
  /// The command that runs it so; seeds of 0 or the claim's own number, scale 1 and an empty rule are left out.
  std::string command(double scale = 1, std::size_t of_seeds = 0, std::string_view init = "") const;
};

/// All of them: S-claims in the order of the texts, then C-claims by number.
const std::vector<Claim>& claims();
/// "s7" is S07. An unknown id is a UsageError with the nearest, and with the first and last of each kind.
const Claim& claim_named(std::string_view id);

/// A statement that is not among the claims.
struct LeftOut {
  std::string statement;
  std::string source;
  std::string reason;
};
const std::vector<LeftOut>& left_out_statements();  ///< of the texts
const std::vector<LeftOut>& left_out_claims();      ///< published ones, of what is not built

std::string verdict_text(ClaimKind kind, const ClaimVerdict& verdict);

struct ClaimOptions {
  double scale = 1;       ///< 0.01 ... 100
  std::size_t seeds = 0;  ///< 0: the claim's own number
  std::function<bool()> go_on{};
  std::filesystem::path runs{};
  std::string init{};  ///< one rule in place of kClaimInits; only of a claim that compares
};

/// What came out under one rule of initialisation.
struct ClaimUnderRule {
  std::string init;
  Samples values{};
  ClaimVerdict verdict{};
};
/// One verdict from those under several rules: theirs where they agree; else the weights are a condition of it, or part of it.
/// It has what was measured under each.
ClaimVerdict combined(ClaimKind kind, const std::vector<ClaimUnderRule>& all);

struct ClaimResult {
  Samples values{};  ///< under the first rule where there are several
  ClaimVerdict verdict{};
  std::string verdict_text{};
  std::vector<ClaimUnderRule> by_rule{};  ///< of a claim that compares
  double seconds = 0;
  double cpu_seconds = 0;  ///< of all threads of this process: the same on a busy machine
  double scale = 1;
  std::size_t seeds = 0;
};

/// Measures, judges, and says how long it took. Uses as many threads as set_threads() says.
ClaimResult run_claim(const Claim& claim, const ClaimOptions& options = {});

/// An object with id, claim, kind, source, expected, measured, values (name, mean, spread, seeds, each), verdict, seconds,
/// cpu_seconds, trains, scale, seeds, command, version; where there is something to say changed, earlier (verdict, why, since),
/// see (id, why), start; of a claim that compares inits (init, verdict, measured, values). Numbers that are not finite are null.
std::string to_json(const Claim& claim, const ClaimResult& result);

}  // namespace addnorm
