#include "lab/outcome/confirm.h"

#include <algorithm>
#include <array>
#include <optional>

#include "addnorm/residual/init_spec.h"
#include "addnorm/train/run_options.h"
#include "core/json/record.h"
#include "lab/grid/changes.h"

namespace addnorm {
namespace {

constexpr std::size_t kLessEvidence = 10000;  // more than any rank of a change that speaks for a cause

/// How another row differs from one that failed, in words.
struct Change {
  std::size_t other = 0;  ///< the row
  std::size_t rank = 0;   ///< the lower, the closer to the cause
  bool speaks = false;    ///< of one thing only, which bears on the cause
  bool two = false;       ///< another arrangement, which does with less warm-up
  std::string words{};
};

bool is_cured_by_arrangement(CauseKind kind) {
  return kind != CauseKind::attention_collapse && kind != CauseKind::late_divergence;
}

/// Whether this change of one option bears on such a cause.
bool bears_on(CauseKind kind, const std::string& field, const GridChanges& changes, std::size_t row, std::size_t other) {
  if (kind == CauseKind::slow || kind == CauseKind::unknown) return false;
  const double before = changes.number(row, field), after = changes.number(other, field);
  if (field == "lr") return after < before;
  if (field == "warmup_steps") return after > before && kind != CauseKind::branches_die;
  if (field == "arrangement" || field == kWeights || field == kEmbeddings) return is_cured_by_arrangement(kind);
  if (field == "qk_norm") return kind == CauseKind::attention_collapse && changes.value(row, field) == "none";
  if (field == "clip_grad_norm") return kind == CauseKind::late_divergence && after > 0 && (before == 0 || after < before);
  return false;
}

std::string words_for(const GridResult& result, const GridChanges& changes, const std::string& field, std::size_t other) {
  const std::string value = changes.value(other, field);
  if (field == "warmup_steps") return concat("with ", value, " warm-up steps");
  if (field == "arrangement") return concat("as ", value);
  if (field == kWeights) return concat("from ", result.rows[other].start.weights_in_words);
  if (field == kEmbeddings) return concat("with embeddings of ", value);
  if (field == "layers") return concat("with ", value, value == "1" ? " layer" : " layers");
  return concat("with ", called(result.spec.words, field), " ", value);
}

/// Where it is one thing; or another arrangement that does with fewer warm-up steps, which is two.
std::optional<Change> change_between(const GridResult& result, const GridChanges& changes, std::size_t row, std::size_t other) {
  static constexpr std::array kOrder{"warmup_steps", "arrangement", kWeights,         kEmbeddings,
                                     "lr",           "qk_norm",     "clip_grad_norm", "layers"};
  // What changes least: one part more where there is no skip at all, else a weight of the skip.
  static constexpr std::array kSkips{"residual", "pre-ln", "rezero"}, kScaled{"deepnorm", "admin", "pre-ln"};
  constexpr std::size_t kStep = 100;
  const std::vector<std::string> fields = changes.between(row, other);
  const bool less_warmup = changes.warmup(other) < changes.warmup(row);
  const auto has = [&](const char* name) { return std::ranges::find(fields, name) != fields.end(); };
  const bool two = fields.size() == 2 && has("arrangement") && has("warmup_steps") && less_warmup;
  if (!two && (fields.size() != 1 || less_warmup)) return std::nullopt;
  const std::string field = two ? "arrangement" : fields.front();
  Change change{.other = other, .words = words_for(result, changes, field, other)};
  change.two = two;
  if (two) change.words += changes.warmup(other) == 0 ? ", without any warm-up" : ", with less warm-up";
  change.speaks = !two && bears_on(result.rows[row].cause->kind, field, changes, row, other);
  change.rank = kStep * static_cast<std::size_t>(std::ranges::find(kOrder, field) - kOrder.begin());
  const auto& closer = result.rows[row].skip_gain_predicted ? kScaled : kSkips;
  if (field == "arrangement")
    change.rank += static_cast<std::size_t>(std::ranges::find(closer, changes.value(other, field)) - closer.begin());
  if (!change.speaks) change.rank += two ? kLessEvidence : 2 * kLessEvidence;
  return change;
}

/// Most of its runs that trained show this in their probes nevertheless.
bool shows(const GridResult& result, const RowResult& row, CauseKind kind) {
  std::size_t trained = 0, showing = 0;
  for (const std::size_t index : row.runs) {
    const GridRun& run = result.runs[index];
    if (run.state != RunState::done || run.judged.outcome != Outcome::trained) continue;
    ++trained;
    showing += std::ranges::find(run.signs, kind) != run.signs.end();
  }
  return 2 * showing > trained;
}

/// The one closest to the cause, of rows that trained (and, where they speak for it, do not show it) or of those that failed.
std::optional<Change> closest(const GridResult& result, const GridChanges& changes, std::size_t row, bool trains) {
  std::optional<Change> best;
  for (std::size_t other = 0; other < result.rows.size(); ++other) {
    const RowResult& one = result.rows[other];
    if (other == row || !(trains ? has_trained(one) : has_failed(one))) continue;
    std::optional<Change> change = change_between(result, changes, row, other);
    if (!change) continue;
    if (trains && change->speaks && shows(result, one, result.rows[row].cause->kind)) {
      change->speaks = false;
      change->words += ", though its probes show the same";
      change->rank += kLessEvidence;
    }
    if (!best || change->rank < best->rank) best = std::move(change);
  }
  return best;
}

/// A row that would confirm the cause, if it trained.
struct ConfirmingRow {
  GridRow row;
  bool warmup = false;  ///< it is the warm-up that is changed
};
/// `trains`: the closest change that does, and says too little.
std::optional<ConfirmingRow> confirming_change(const GridResult& result, const GridChanges& changes, std::size_t index,
                                               const std::optional<Change>& trains) {
  const RowResult& row = result.rows[index];
  const std::size_t warmup = warmup_to_try(changes.steps(index));
  const double lr = changes.number(index, "lr");
  const FieldWords& words = result.spec.words;
  switch (row.cause->kind) {
    case CauseKind::slow:
    case CauseKind::unknown:
      return std::nullopt;
    case CauseKind::tokens_alike:
    case CauseKind::gradient_vanishes:
    case CauseKind::rank_collapse:
      if (changes.warmup(index) < warmup) return ConfirmingRow{changed(row, Json{{"warmup_steps", warmup}}, words), true};
      [[fallthrough]];
    default:  // another arrangement trains, with less warm-up even: does it with this one?
      if (trains && trains->two && is_cured_by_arrangement(row.cause->kind))
        if (const auto other = as_arrangement(row, result.rows[trains->other].arrangement))
          return ConfirmingRow{changed(row, *other, words)};
      return ConfirmingRow{changed(row, Json{{"lr", lr / 10}}, words)};
  }
}

/// Per unit of GridRun::work.
double usual_seconds(const GridResult& result) {
  double seconds = 0, work = 0;
  for (const GridRun& run : result.runs) {
    if (run.state != RunState::done || run.steps == 0) continue;
    seconds += run.seconds;
    work += run.work * static_cast<double>(run.losses.size()) / static_cast<double>(run.steps);
  }
  return work > 0 ? seconds / work : 0;
}

double work_of(const GridResult& result, const RowResult& row) {
  double sum = 0;
  for (const std::size_t run : row.runs) sum += result.runs[run].work;
  return sum;
}

bool has_all_of(const GridRow& one, const GridRow& other) {
  return one.options == other.options && one.first_seed == other.first_seed && one.seeds >= other.seeds;
}

/// As far as the options say it: rows that differ in how they start do so here. Nothing: no model starts so.
std::optional<StartText> start_of(const GridRow& row) {
  try {
    return start_text(run_options_from_json(row.options, row.place).options.model);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void hold_embeddings(const StartText& start, Json& more) {
  if (start.token_std) more["embedding_std"] = *start.token_std;
  if (start.position_std) more["position_std"] = *start.position_std;
}

}  // namespace

bool afford(const GridResult& result, const RowResult& row, double& processor_seconds) {
  const double needed = usual_seconds(result) * work_of(result, row);
  if (needed > processor_seconds) return false;
  processor_seconds -= needed;
  return true;
}

bool is_there(const GridResult& result, const GridRow& row) {
  return std::ranges::any_of(result.rows, [&](const RowResult& one) { return has_all_of(one.row, row); });
}

bool is_among(const std::vector<AddedRow>& added, const GridRow& row) {
  return std::ranges::any_of(added, [&](const AddedRow& one) { return has_all_of(one.row, row); });
}

GridRow changed(const RowResult& row, const Json& more, const FieldWords& words) {
  Json options = parsed(row.row.options, row.row.place);
  GridRow copy = row.row;
  copy.place += " with";
  for (const auto& [name, value] : more.items()) {
    if (value.is_null()) {
      options.erase(name);
      continue;
    }
    options[name] = value;
    copy.place += concat(" ", called(words, name), " ", value.dump());
  }
  copy.options = options.dump();
  return copy;
}

std::optional<Json> as_arrangement(const RowResult& row, const std::string& name) {
  const std::optional<StartText> own = start_of(row.row);
  if (!own) return std::nullopt;
  const Json options = parsed(row.row.options, row.row.place);
  Json more{{"arrangement", name}};
  if (options.contains("own_arrangement")) more["own_arrangement"] = Json();
  const Json* rule = options.find("init");
  if (!own->rule.empty() && (!rule || *rule == kInitOfArrangement)) more["init"] = own->rule;
  const auto is_held = [&] {
    const std::optional<StartText> other = start_of(changed(row, more));
    return other && start_key(*other) == start_key(*own);
  };
  if (is_held()) return more;
  hold_embeddings(*own, more);
  return is_held() ? std::optional(more) : std::nullopt;
}

std::optional<Json> from_other_weights(const RowResult& row) {
  const std::optional<StartText> own = start_of(row.row);
  if (!own) return std::nullopt;
  Json more{{"init", own->rule == "gpt2" ? "xavier" : "gpt2"}, {"init_std", Json()}};
  if (!own->formula_has_embeddings) hold_embeddings(*own, more);
  std::optional<StartText> other = start_of(changed(row, more));
  if (!other || other->weights == own->weights) return std::nullopt;
  other->weights = own->weights;
  return start_key(*other) == start_key(*own) ? std::optional(more) : std::nullopt;
}

bool has_failed(const RowResult& row) { return row.done > 0 && 2 * (row.trained + row.too_short) <= row.done; }
bool has_trained(const RowResult& row) { return row.done > 0 && 2 * row.trained > row.done; }

std::vector<AddedRow> rows_with_warmup(const GridResult& result) {
  std::vector<AddedRow> added;
  const std::size_t warmup = result.spec.with_warmup;
  if (warmup == 0) return added;
  const GridChanges changes(result);
  for (std::size_t i = 0; i < result.spec.rows.size(); ++i) {
    const RowResult& row = result.rows[i];
    if (!has_failed(row) || changes.warmup(i) >= warmup || result.is_repeated(i)) continue;
    GridRow copy = changed(row, Json{{"warmup_steps", warmup}}, result.spec.words);
    if (!is_there(result, copy)) added.push_back({std::move(copy), i});
  }
  return added;
}

std::vector<AddedRow> rows_that_would_confirm(const GridResult& result, double& processor_seconds,
                                              const std::vector<AddedRow>& added) {
  std::vector<AddedRow> more;
  const GridChanges changes(result);
  for (std::size_t i = 0; i < result.spec.rows.size(); ++i) {
    const RowResult& row = result.rows[i];
    if (!has_failed(row) || !row.cause || result.is_repeated(i)) continue;
    const std::optional<Change> trains = closest(result, changes, i, true);
    if (trains && trains->speaks) continue;
    std::optional<ConfirmingRow> wanted = confirming_change(result, changes, i, trains);
    if (!wanted || is_there(result, wanted->row) || is_among(added, wanted->row) || is_among(more, wanted->row)) continue;
    if (wanted->warmup && changes.warmup(i) < result.spec.with_warmup) continue;  // rows_with_warmup has such a one
    if (!afford(result, row, processor_seconds)) break;
    more.push_back({std::move(wanted->row), i});
  }
  return more;
}

void note_confirmations(GridResult& result) {
  const GridChanges changes(result);
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    RowResult& row = result.rows[i];
    if (!row.cause || !has_failed(row) || row.cause->kind == CauseKind::slow) continue;
    if (const auto found = closest(result, changes, i, true)) {
      const RowResult& other = result.rows[found->other];
      const std::string count = concat(other.trained, " of ", other.done);
      row.cause->confirmed = found->speaks;
      row.cause->by_rows.push_back(found->other);
      row.cause->by =
          found->speaks ? concat(found->words, ": trains, ", count) : concat("trains ", found->words, " (", count, ")");
    }
    if (row.cause->confirmed) continue;
    // What speaks for the cause and was tried says more than what does not and trains.
    const auto tried = closest(result, changes, i, false);
    if (!tried || (!tried->speaks && !row.cause->by.empty())) continue;
    row.cause->by += concat(row.cause->by.empty() ? "" : "; ", tried->words, ": does not train either");
    row.cause->by_rows.push_back(tried->other);
  }
}

}  // namespace addnorm
