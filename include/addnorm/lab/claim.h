// Claims: what texts and papers say of residual connections and norms, each with the experiment that looks at it.
//
//   for (const Claim& claim : claims()) std::cout << claim.id << ' ' << run_claim(claim).verdict_text << '\n';
//
// How to add one: docs/adding-a-claim.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/core/error.h"

namespace addnorm {

std::string figure_text(double value);  ///< three digits: "0.0123", "2.5e-07", "4078"

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

 private:
  std::vector<Series> series_;
};

/// S: a statement of one of the four texts that this project began with. C: a published claim.
enum class ClaimKind : unsigned char { statement, published };

/// What the numbers say. In words: "true", "true only if ...", "false" of a statement; "seen at this scale", "mixed", "not seen"
/// of a published claim, which a small experiment cannot refute.
enum class Finding : unsigned char { yes, partly, no };

struct ClaimVerdict {
  Finding finding = Finding::no;
  std::string condition{};  ///< of `partly`: under which it is true
  std::string measured{};   ///< the numbers in a sentence
};

/// Thrown out of an experiment when go_on says no.
class ClaimStopped : public Error {
 public:
  using Error::Error;
};

/// What an experiment is told.
struct ClaimContext {
  double scale = 1;  ///< of training steps
  std::vector<std::uint64_t> seeds{};
  std::function<bool()> go_on{};  ///< asked between steps
  std::filesystem::path runs{};   ///< where finished training runs are kept for other claims; empty: in memory

  std::int64_t steps(std::int64_t at_scale_one) const;  ///< at least 1
  void check() const;                                   ///< ClaimStopped unless go_on
};

struct Claim {
  std::string id;         ///< "S07", "C3"
  std::string statement;  ///< in our words
  std::string source;     ///< text and place, or paper
  std::string expected;   ///< the signature looked for, with its numbers
  std::string changed{};  ///< what was changed in the experiment or its thresholds after numbers had been seen, and what they
                          ///< were; "": nothing
  bool trains = false;    ///< else it looks at initialisation only, and takes seconds
  std::size_t seeds = 10;
  /// Numbers only; they alone decide. Both may be called by anyone: tests hand made-up numbers to every judge.
  std::function<Samples(const ClaimContext&)> measure{};
  std::function<ClaimVerdict(const Samples&)> judge{};

  ClaimKind kind() const { return id.starts_with('S') ? ClaimKind::statement : ClaimKind::published; }
  /// That runs it so; seeds 0 or the claim's own number, and scale 1, are not written out.
  std::string command(double scale = 1, std::size_t of_seeds = 0) const;
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
};

struct ClaimResult {
  Samples values{};
  ClaimVerdict verdict{};
  std::string verdict_text{};
  double seconds = 0;
  double cpu_seconds = 0;  ///< of all threads of this process: the same on a busy machine
  double scale = 1;
  std::size_t seeds = 0;
};

/// Measures, judges, and says how long it took. Uses as many threads as set_threads() says.
ClaimResult run_claim(const Claim& claim, const ClaimOptions& options = {});

/// An object with id, claim, kind, source, expected, changed (where something was), measured, values (name, mean, spread, seeds),
/// verdict, seconds, cpu_seconds, trains, scale, seeds, command, version. Numbers that are not finite are null.
std::string to_json(const Claim& claim, const ClaimResult& result);

}  // namespace addnorm
