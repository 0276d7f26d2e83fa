// What a grid of runs found, row by row: losses with their spread, what was predicted, what happened, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "addnorm/lab/cause.h"
#include "addnorm/lab/grid.h"
#include "addnorm/lab/outcome.h"
#include "addnorm/lab/preflight.h"
#include "addnorm/model/config.h"

namespace addnorm {

/// What is kept of a preflight.
struct Prediction {
  Forecast forecast = Forecast::trains;
  double confidence = 0;
  bool clear = false;  ///< as in PreflightResult
  std::string reason{};
  std::optional<double> skip_gain_measured{};
  std::string twin{};       ///< what was tried in place of the model; "": that model itself
  std::size_t horizon = 0;  ///< steps that it is for
  double seconds = 0;
};

enum class RunState : unsigned char { waiting, running, done, failed, stopped };
const char* name_of(RunState state);

/// One seed of one configuration. Rows that ask for the same share it.
struct GridRun {
  std::uint64_t seed = 1;
  std::string key{};  ///< hash of all planned options, the data and the version: same key, same run
  std::filesystem::path folder{};
  std::size_t steps = 0;
  std::size_t warmup = 0;  ///< of them
  double work = 0;         ///< what it costs beside others: steps times tokens times layers times width
  RunState state = RunState::waiting;
  bool cached = false;           ///< it was there already
  std::vector<double> losses{};  ///< of step 1, 2, ...
  Judged judged{};               ///< of a run that is done
  std::string broke_off{};       ///< why it ended early, by numbers that were not finite; "": it did not
  std::string redone{};          ///< why it was run again, and where the old folder is: what that had lost; "": it was not
  std::string problem{};         ///< of a run that failed: by signal, exit code or complaint
  double seconds = 0;
  std::optional<Cause> cause{};    ///< where it is done and did not train
  std::vector<CauseKind> signs{};  ///< where it is done: signs_in() its probes, whatever became of it
};

/// Of some numbers: mean, standard deviation (n - 1), least and most.
struct Spread {
  std::size_t count = 0;
  double mean = 0, deviation = 0, least = 0, most = 0;
};
Spread spread_of(std::span<const double> values);

/// Whether two means differ by more than chance: Welch's interval at 95 %, for one pair that was chosen before looking.
///
///   |a - b| > t(0.975, nu) sqrt(sa^2 / na + sb^2 / nb),   nu by Welch and Satterthwaite
struct MeanDifference {
  double difference = 0;  ///< a - b
  double margin = 0;      ///< right side above; NaN: fewer than three values on either side, or one not finite
  double p = 1;           ///< how often equal means would differ as much: two-sided; 1 where nothing can be said
  bool clear() const { return difference > margin || difference < -margin; }
};
MeanDifference difference_of(const Spread& a, const Spread& b);

/// What became of a row, in the words of a prediction.
enum class Happened : unsigned char {
  unknown,         ///< no run of it is done
  trains,          ///< more than half of its runs trained
  needs_warmup,    ///< they did not, and with more warm-up steps they did
  will_not_train,  ///< they did not, with more warm-up steps neither
  does_not_train,  ///< they did not; more warm-up steps were not tried
  too_short,       ///< what runs that were too short to tell would have become decides
};
const char* name_of(Happened happened);  ///< "trains", "needs warm-up", "will not train", "does not train", "too short to tell"

/// How the weights of a row start, as a person reads it. Rows with the same weights and the same deviations start alike.
struct StartText {
  /// "xavier", "gpt2", "gpt2, W_o and W_2 times 0.5"; where no rule of the table draws so, what is drawn: "normal of 0.1". Gains
  /// of the arrangement's formula are not in it.
  std::string weights{};
  std::string weights_in_words{};  ///< "gpt2 weights, W_o and W_2 times 0.5": the rule that is asked for, or is the source's
  /// The same, and whether gains of the formula stand beside the rule or in its place: "gpt2 weights with its own gains".
  std::string weights_in_label{};
  bool own_start = false;                ///< the formula contains a start (contained_init), whatever the rule
  std::string embeddings{};              ///< deviation in three digits: "0.02"; "": there are none
  std::string rule{};                    ///< by which another arrangement would start so, a name of init_rules(); "": by none
  std::optional<double> token_std{};     ///< the deviation itself
  std::optional<double> position_std{};  ///< of learned positions, where it is another
  bool formula_has_embeddings = false;   ///< no option may change them
};
StartText start_text(const ModelConfig& model);

/// One factor of a row that failed, changed alone.
struct TriedChange {
  /// "placement", "weights", "embeddings", "warm-up", "rate"; "placement and start", two at once, where either formula contains
  /// a start.
  std::string factor{};
  std::string change{};  ///< "pre-ln", "deepnorm with its own start", "gpt2 weights", "200 warm-up steps"
  std::size_t trained = 0, done = 0;
  std::size_t row = 0;  ///< that has it
  bool cures() const { return 2 * trained > done; }
};

struct RowResult {
  GridRow row{};
  std::string label{};         ///< by what differs from others: "post-ln, 24 layers, 200 warm-up steps"
  std::string label_in_act{};  ///< below the heading of its act, by what differs from others there: "post-ln"
  std::string options{};       ///< JSON of the planned options of the first seed, all of them
  std::string arrangement{};   ///< canonical name
  std::string formula{};       ///< of its units
  std::optional<double> skip_gain_predicted{};
  std::optional<Prediction> prediction{};
  std::string no_prediction{};              ///< why there is none
  std::vector<std::size_t> runs{};          ///< of GridResult::runs, by seed
  Baselines baselines{};                    ///< of the data; its line says what has trained
  std::optional<std::size_t> instead_of{};  ///< a row that failed, of which this is a changed copy that the grid did not ask for

  /// A row that starts alike, differs in nothing that is learned and has all seeds of this one: an earlier row, or a later one
  /// that has more. This one is then reported and counted with it.
  std::optional<std::size_t> same_as{};

  // Of runs that are done.
  std::size_t done = 0, trained = 0, too_short = 0;
  Spread loss{};        ///< of the means of their last losses; runs that broke off are left out
  double distance = 0;  ///< loss.mean - floor; NaN: no floor
  Happened happened = Happened::unknown;
  std::optional<Cause> cause{};      ///< of most that did not train
  std::vector<TriedChange> tried{};  ///< of a row that did not: what was changed alone, by factor

  StartText start{};

  /// Nothing: there is no prediction, or no run long enough. A "does not train" agrees with both forecasts of failure.
  std::optional<bool> agreed() const;
  bool by_is_tried() const;             ///< what speaks of the cause (Cause::by) is among what was tried
  bool slow() const;                    ///< it did not train, but more than half of its runs trained or still get better
  std::string outcome_text() const;     ///< "trained 3 of 3", "stuck 2, diverged 1 of 3"
  std::vector<std::string> outcomes{};  ///< of each run that is done, in order: "trained", ...
};

/// Predicted against happened, of rows where both are known and the warm-up was tried where they failed. Rows that are the same
/// configuration count once.
struct Confusion {
  std::size_t counts[3][3] = {};     ///< [forecast][happened]: trains, needs warm-up, will not train
  std::size_t two_way[2][2] = {};    ///< [forecast trains ? 0 : 1][trains ? 0 : 1], of all rows
  double balanced_accuracy() const;  ///< three-way: mean over classes that happened of the share that was predicted; NaN: none
  double two_way_accuracy() const;   ///< the same for trains or not
  std::size_t rows() const;          ///< of two_way
};

struct GridResult {
  GridSpec spec{};
  std::vector<RowResult> rows{};  ///< those of the spec, in order, then those that were added
  std::vector<GridRun> runs{};
  std::filesystem::path folder{};
  bool finished = false;  ///< false: go_on() said no
  double seconds = 0;
  std::string not_written{};   ///< why the result is not in the folder; "": it is, or was not asked for
  std::size_t failed() const;  ///< runs
  bool is_repeated(std::size_t row) const { return rows[row].same_as.has_value(); }
};

/// Fills everything of the rows that follows from their runs.
void summarise(GridResult& result);
Confusion confusion_of(const GridResult& result);

/// The best row that trained against each other one of the same data, sequence length and kind of model, best first: "deepnorm is
/// below pre-ln by 0.05 (p 0.004)", or "deepnorm and rezero: not decided with 3 seeds (0.01, p 0.6)". Rows with fewer than three
/// seeds, rows that are there twice, and copies that the grid did not ask for, are left out.
///
/// Which row is the best is seen by the same losses, so p is corrected for all pairs among them, not only for those that are
/// reported: by Holm's method (that of Bonferroni, which says less, for more than 500 rows). Among all pairs of equals a clear
/// one is reported in 5 % of the grids at most.
struct Comparisons {
  std::vector<std::string> lines{};
  bool compares = false;  ///< some line is about two rows; else there are only notes on what is left out, or nothing
  bool noise = false;     ///< some difference is not decided: more seeds might decide it
};
Comparisons comparisons(const GridResult& result);

/// What the grid decides, in one sentence made from its numbers: of those that fail somewhere and train after a change of one
/// factor, which factors these are, and what happens with each. "": nothing was decided.
std::string headline(const GridResult& result);

/// What the grid shows, a sentence each, made from its numbers: the headline, then for every setting which placements train at
/// equal weights (and apart from them those whose formula contains a start), whether norm-skip does as post-ln does, and what
/// cures each row that failed. Empty where no two rows differ in placement alone, and for grids of many settings.
std::vector<std::string> findings(const GridResult& result);

/// lab.json: docs/file-formats.md. Curves are thinned to some hundred points.
std::string to_json(const GridResult& result);

std::string to_json(const Prediction& prediction);
Prediction prediction_from_json(std::string_view text, std::string_view where);
/// Preflight's answer for a row, without advice. `cache`: of tokenised text.
Prediction predict(std::string_view options, std::uint64_t first_seed, std::size_t seeds, const std::filesystem::path& cache,
                   const FieldWords& words = nullptr);

}  // namespace addnorm
