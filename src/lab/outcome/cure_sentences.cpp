// What cures the rows that failed, in sentences: never said of all what was seen of one.
#include <algorithm>
#include <map>

#include "addnorm/core/error.h"
#include "lab/grid/settings.h"
#include "lab/outcome/cures.h"

namespace addnorm {
namespace {

/// Rows of one arrangement that a sentence is about.
struct CuredRows {
  Texts names{};
  std::vector<const Setting*> settings{};
  std::string words{};  ///< what cures them, and what does not
};

bool has_one_seed(const TriedChange& tried) { return tried.done == 1; }

std::string change_with_seeds(const TriedChange& tried) {
  const std::string note = seeds_note(tried.cures() ? tried.trained : tried.done - tried.trained, tried.done);
  if (note.empty()) return tried.change;
  return tried.factor == "placement" ? concat(tried.change, " with ", note) : concat(tried.change, " (", note, ")");
}

/// {"another placement (pre-ln, rezero)"}; of other factors each change by itself: {"gpt2 weights", "xavier weights"}.
Texts change_words(const std::string& factor, const Texts& changes) {
  if (factor != "placement") return changes;
  std::string all;
  for (const std::string& change : changes) all += (all.empty() ? "" : ", ") + change;
  return {concat("another placement (", all, ")")};
}

/// "another placement (pre-ln), gpt2 weights and 200 warm-up steps each cure it; embeddings of 0.02 do not".
std::string cures_in_words(const std::vector<TriedChange>& tried) {
  Texts cures, others;
  bool is_plural = false;  // "gpt2 weights", "200 warm-up steps"
  const bool one_each = tried.size() > 1 && std::ranges::all_of(tried, has_one_seed);
  for (std::size_t i = 0; i < tried.size();) {
    const TriedChange& first = tried[i];
    Texts changes;
    for (; i < tried.size() && tried[i].factor == first.factor && tried[i].cures() == first.cures(); ++i)
      changes.push_back(one_each ? tried[i].change : change_with_seeds(tried[i]));
    Texts& texts = first.cures() ? cures : others;
    for (std::string& text : change_words(first.factor, changes)) texts.push_back(std::move(text));
    if (first.cures()) is_plural = first.factor != "placement" && first.factor != "rate";
  }
  std::string text;
  if (!cures.empty()) text = joined(cures) + (cures.size() > 1 ? " each cure it" : is_plural ? " cure it" : " cures it");
  if (!others.empty()) text += concat(text.empty() ? "" : "; ", joined(others), cures.empty() ? " did not cure it" : " did not");
  return one_each ? text + " (1 seed each)" : text;
}

/// A change in all settings of some rows: how often it was tried, how often it cured.
struct ChangeCount {
  std::string change;
  std::size_t tried = 0, cured = 0;
};

/// {"pre-ln in 3", "post-ln and norm-skip in 2"}, the most frequent first.
Texts by_count(const std::vector<ChangeCount>& all, std::size_t ChangeCount::*count, std::size_t most) {
  Texts parts;
  for (std::size_t n = most; n > 0; --n) {
    Texts names;
    for (const ChangeCount& one : all)
      if (one.*count == n) names.push_back(one.change);
    if (!names.empty()) parts.push_back(concat(joined(names), " in ", n));
  }
  return parts;
}

std::string separated(const Texts& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
  return all;
}

/// Of rows that another placement cures and nothing else did, each in a setting of its own.
std::string counted_in_words(const GridResult& result, const GridChanges& changes, const std::vector<std::size_t>& rows) {
  std::vector<ChangeCount> placements, others;
  for (const std::size_t row : rows)
    for (const TriedChange& tried : changes_tried(result, changes, row)) {
      std::vector<ChangeCount>& into = tried.factor == "placement" ? placements : others;
      auto at = std::ranges::find(into, tried.change, &ChangeCount::change);
      if (at == into.end()) at = into.insert(into.end(), {tried.change});
      ++at->tried;
      at->cured += tried.cures();
    }
  std::string text =
      concat("another placement cures it (", separated(by_count(placements, &ChangeCount::cured, rows.size())), ")");
  if (others.empty()) return text;
  return text + concat("; nothing else did (tried: ", separated(by_count(others, &ChangeCount::tried, rows.size())), ")");
}

/// Another placement, and nothing else that was tried.
bool is_cured_by_placement_alone(const std::vector<TriedChange>& all) {
  const auto is_placement = [](const TriedChange& one) { return one.factor == "placement"; };
  return std::ranges::any_of(all, [&](const TriedChange& one) { return is_placement(one) && one.cures(); }) &&
         std::ranges::none_of(all, [&](const TriedChange& one) { return !is_placement(one) && one.cures(); });
}

struct FailedRow {
  const Setting* setting;
  std::size_t row;
  std::string words;
};

std::vector<FailedRow> failed_rows(const GridResult& result, const std::string& arrangement,
                                   const std::vector<Setting>& settings) {
  std::vector<FailedRow> all;
  for (const Setting& setting : settings)
    for (const std::size_t i : setting.rows)
      if (const RowResult& row = result.rows[i]; row.arrangement == arrangement && !row.tried.empty())
        all.push_back({&setting, i, cures_in_words(row.tried)});
  return all;
}

/// Those that placement alone cures, by other placements here and there, share words that count settings.
void count_settings(const GridResult& result, const GridChanges& changes, std::vector<FailedRow>& rows) {
  std::vector<FailedRow*> alone;
  std::vector<std::size_t> numbers;
  for (FailedRow& one : rows)
    if (is_cured_by_placement_alone(changes_tried(result, changes, one.row))) {
      alone.push_back(&one);
      numbers.push_back(one.row);
    }
  if (std::ranges::all_of(alone, [&](const FailedRow* one) { return one->words == alone.front()->words; })) return;
  const std::string words = counted_in_words(result, changes, numbers);
  for (FailedRow* one : alone) one->words = words;
}

/// Of one arrangement, rows with the same words together.
std::vector<CuredRows> cured_rows(const GridResult& result, const GridChanges& changes, const std::string& arrangement,
                                  const std::vector<Setting>& settings) {
  std::vector<FailedRow> rows = failed_rows(result, arrangement, settings);
  count_settings(result, changes, rows);
  std::vector<CuredRows> groups;
  for (FailedRow& one : rows) {
    auto same = std::ranges::find(groups, one.words, &CuredRows::words);
    if (same == groups.end()) same = groups.insert(groups.end(), {{arrangement}, {}, std::move(one.words)});
    same->settings.push_back(one.setting);
  }
  return groups;
}

std::string sentence_of(const CuredRows& rows) {
  std::string where;
  for (const Setting* setting : rows.settings)
    if (!setting->where.empty()) where += (where.empty() ? "" : "; ") + setting->where;
  if (rows.settings.size() > 2) where = concat("in ", rows.settings.size(), " settings");
  return concat(joined(rows.names), where.empty() ? "" : concat(" (", where, ")"), ": ", rows.words, ".");
}

}  // namespace

Texts cure_sentences(const GridResult& result, const GridChanges& changes, const std::vector<Setting>& settings) {
  Texts arrangements;
  for (const Setting& setting : settings)
    for (const std::size_t i : setting.rows)
      if (const std::string& name = result.rows[i].arrangement; std::ranges::find(arrangements, name) == arrangements.end())
        arrangements.push_back(name);
  std::vector<CuredRows> all;
  for (const std::string& arrangement : arrangements)
    for (CuredRows& rows : cured_rows(result, changes, arrangement, settings)) {
      const auto agrees = [&](const CuredRows& one) { return one.words == rows.words && one.settings == rows.settings; };
      const auto same = std::ranges::find_if(all, agrees);
      if (same == all.end())
        all.push_back(std::move(rows));
      else
        same->names.push_back(arrangement);
    }
  Texts sentences;
  for (const CuredRows& rows : all) sentences.push_back(sentence_of(rows));
  return sentences;
}

}  // namespace addnorm
