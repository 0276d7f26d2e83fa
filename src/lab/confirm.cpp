#include "lab/confirm.h"

#include <algorithm>
#include <array>
#include <optional>

#include "addnorm/train/run_folder.h"
#include "addnorm/train/run_options.h"
#include "core/json_record.h"

namespace addnorm {
namespace {

/// One change between two rows, in words.
struct Change {
  std::size_t rank;  ///< the lower, the closer to the cause
  std::string field;
  std::string words;
};

std::string shown(const Json* value) {
  return value == nullptr ? "the default" : value->is_string() ? value->text() : value->dump();
}

/// What tells `other` from `row`, where that is one thing. A change of arrangement that does with fewer warm-up steps counts too.
std::optional<Change> only_change(const RowResult& row, const RowResult& other) {
  static constexpr std::array kOrder{"warmup_steps", "arrangement", "lr", "layers"};
  // What changes least: one part more where there is no skip at all, else a weight of the skip.
  static constexpr std::array kSkips{"residual", "pre-ln", "rezero"}, kWeights{"deepnorm", "admin", "pre-ln"};
  const Json mine = parsed(row.row.options, row.row.place), theirs = parsed(other.row.options, other.row.place);
  std::vector<std::string> fields;
  for (const FieldDifference& one : differences(mine.dump(), theirs.dump()))
    if (!may_change(one.field) || one.field == "steps") fields.push_back(one.field);
  bool no_warmup = false;
  if (fields.size() == 2 && std::ranges::find(fields, "arrangement") != fields.end() &&
      std::ranges::find(fields, "warmup_steps") != fields.end() && warmup_of(other) < warmup_of(row)) {
    no_warmup = true;
    fields = {"arrangement"};
  }
  if (fields.size() != 1) return std::nullopt;
  const std::string& field = fields[0];
  const std::string value = shown(theirs.find(field.substr(0, field.find('.'))));
  std::size_t rank = 100 * static_cast<std::size_t>(std::ranges::find(kOrder, field) - kOrder.begin());
  const auto& closer = row.skip_gain_predicted ? kWeights : kSkips;
  if (field == "arrangement") rank += static_cast<std::size_t>(std::ranges::find(closer, value) - closer.begin());
  if (field == "warmup_steps") {
    if (warmup_of(other) <= warmup_of(row)) return std::nullopt;
    return Change{rank, field, concat("with ", value, " warm-up steps")};
  }
  if (field == "arrangement")
    return Change{rank, field,
                  concat("as ", value,
                         !no_warmup              ? ""
                         : warmup_of(other) == 0 ? ", without any warm-up"
                                                 : ", with less warm-up")};
  if (field == "layers") return Change{rank, field, concat("with ", value, " layers")};
  return Change{rank, field, concat("with ", option_name(field), " ", value)};
}

struct Confirmation {
  Change change;
  std::size_t row;
};

std::optional<Confirmation> best_change(const GridResult& result, const RowResult& row, bool trains) {
  std::optional<Confirmation> best;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const RowResult& other = result.rows[i];
    if (&other == &row || !(trains ? has_trained(other) : has_failed(other))) continue;
    if (const auto change = only_change(row, other); change && (!best || change->rank < best->change.rank)) best = {*change, i};
  }
  return best;
}

bool is_there(const GridResult& result, const GridRow& row) {
  return std::ranges::any_of(result.rows, [&](const RowResult& one) {
    return one.row.options == row.options && one.row.first_seed == row.first_seed && one.row.seeds >= row.seeds;
  });
}

GridRow changed(const RowResult& row, const char* option, const Json& value) {
  Json options = parsed(row.row.options, row.row.place);
  options[option] = value;
  GridRow copy = row.row;
  copy.options = options.dump();
  copy.place = concat(row.row.place, " with ", option_name(option), " ", value.dump());
  return copy;
}

/// What would speak for the cause, if it trained.
std::optional<GridRow> telling_change(const RowResult& row) {
  const RunOptions options = run_options_from_json(row.options, row.row.place).options;
  const std::size_t warmup = std::min<std::size_t>(200, options.steps * 2 / 3);
  switch (row.cause->kind) {
    case CauseKind::tokens_alike:
    case CauseKind::gradient_vanishes:
    case CauseKind::rank_collapse:
      if (warmup_of(row) < warmup) return changed(row, "warmup_steps", warmup);
      return changed(row, "lr", options.lr / 10);
    case CauseKind::slow:
    case CauseKind::unknown:
      return std::nullopt;
    default:
      return changed(row, "lr", options.lr / 10);
  }
}

double seconds_of(const GridResult& result, const RowResult& row) {
  double sum = 0;
  for (const std::size_t run : row.runs) sum += result.runs[run].seconds;
  return sum;
}

}  // namespace

bool has_failed(const RowResult& row) { return row.done > 0 && 2 * row.trained <= row.done; }
bool has_trained(const RowResult& row) { return row.done > 0 && 2 * row.trained > row.done; }

std::size_t warmup_of(const RowResult& row) {
  const Json options = parsed(row.row.options, row.row.place);
  const Json* warmup = options.find("warmup_steps");
  return warmup && warmup->is_unsigned() ? warmup->whole() : 0;
}

bool only_more_warmup(const RowResult& row, const RowResult& other) {
  const std::optional<Change> change = only_change(row, other);
  return change && change->field == "warmup_steps";
}

std::vector<AddedRow> rows_with_warmup(const GridResult& result) {
  std::vector<AddedRow> added;
  const std::size_t warmup = result.spec.with_warmup;
  for (std::size_t i = 0; warmup > 0 && i < result.spec.rows.size(); ++i) {
    const RowResult& row = result.rows[i];
    if (!has_failed(row) || warmup_of(row) >= warmup) continue;
    GridRow copy = changed(row, "warmup_steps", warmup);
    if (!is_there(result, copy)) added.push_back({std::move(copy), i});
  }
  return added;
}

std::vector<AddedRow> rows_that_would_confirm(const GridResult& result, double processor_seconds) {
  std::vector<AddedRow> added;
  for (std::size_t i = 0; i < result.spec.rows.size(); ++i) {
    const RowResult& row = result.rows[i];
    if (!has_failed(row) || !row.cause || best_change(result, row, true)) continue;
    std::optional<GridRow> copy = telling_change(row);
    if (!copy || is_there(result, *copy)) continue;
    const bool other_warmup = parsed(copy->options, copy->place).at("warmup_steps") != Json(warmup_of(row));
    if (other_warmup && warmup_of(row) < result.spec.with_warmup) continue;  // rows_with_warmup has such a one
    processor_seconds -= seconds_of(result, row);
    if (processor_seconds < 0) break;
    added.push_back({std::move(*copy), i});
  }
  return added;
}

void note_confirmations(GridResult& result) {
  for (RowResult& row : result.rows) {
    if (!row.cause || !has_failed(row) || row.cause->kind == CauseKind::slow) continue;
    if (const auto found = best_change(result, row, true)) {
      const RowResult& other = result.rows[found->row];
      row.cause->confirmed = row.cause->kind != CauseKind::unknown;
      row.cause->by = concat(found->change.words, ": trains, ", other.trained, " of ", other.done);
    } else if (const auto tried = best_change(result, row, false)) {
      row.cause->by = concat(tried->change.words, ": does not train either");
    }
  }
}

}  // namespace addnorm
