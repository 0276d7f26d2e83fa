// What cures the rows that failed, in sentences: never said of all what was seen of one.
#include <algorithm>
#include <map>

#include "addnorm/core/error.h"
#include "lab/grid/settings.h"
#include "lab/outcome/confirm.h"

namespace addnorm {
namespace {

/// Rows of one arrangement that a sentence is about.
struct CuredRows {
  Texts names{};
  std::vector<const Setting*> settings{};
  std::string words{};  ///< what cures them, and what does not
};

bool has_one_seed(const TriedChange& tried) { return tried.done == 1; }

/// What a change is to a sentence.
enum class ChangeKind : unsigned char {
  placement,  ///< alone, or one without the start that the row's formula contains: listed after "another placement"
  own_start,  ///< an arrangement with its own start, which is no cure by placement
  start,      ///< weights, embeddings, warm-up: in the plural
  rate,
};
ChangeKind kind_of(const GridResult& result, const TriedChange& tried) {
  if (tried.factor != kPlacement && tried.factor != kPlacementAndStart)
    return tried.factor == "rate" ? ChangeKind::rate : ChangeKind::start;
  return result.rows[tried.row].start.own_start ? ChangeKind::own_start : ChangeKind::placement;
}

/// "pre-ln with 2 of 3 seeds" in a list in brackets, else "gpt2 weights (1 seed)". `said_once`: the sentence says the number of
/// seeds once for all changes.
std::string change_with_seeds(const GridResult& result, const TriedChange& tried, bool said_once) {
  const ChangeKind kind = kind_of(result, tried);
  const bool is_arrangement = kind == ChangeKind::placement || (kind == ChangeKind::own_start && tried.cures());
  const std::string& words = is_arrangement ? result.rows[tried.row].arrangement : tried.change;
  const std::string note = seeds_note(tried.cures() ? tried.trained : tried.done - tried.trained, tried.done);
  if (note.empty() || said_once) return words;
  return kind == ChangeKind::placement ? concat(words, " with ", note) : concat(words, " (", note, ")");
}

std::string separated(const Texts& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
  return all;
}

/// Changes of a row that cure it, or those that do not.
struct ChangeTexts {
  Texts all{};         ///< {"another placement (pre-ln, residual)", "gpt2 weights", "xavier weights"}
  Texts own_starts{};  ///< {"deepnorm", "rezero"}, of those that cure
  bool is_plural = false;
};
ChangeTexts change_texts(const GridResult& result, const RowResult& row, bool cures, bool one_each) {
  ChangeTexts texts;
  Texts placements;
  for (const TriedChange& tried : row.tried) {
    if (tried.cures() != cures) continue;
    const ChangeKind kind = kind_of(result, tried);
    std::string words = change_with_seeds(result, tried, one_each);
    Texts& into = kind == ChangeKind::placement            ? placements
                  : kind == ChangeKind::own_start && cures ? texts.own_starts
                                                           : texts.all;
    into.push_back(std::move(words));
    texts.is_plural = kind == ChangeKind::start;
  }
  if (!placements.empty())
    texts.all.insert(texts.all.begin(), concat("another placement ", row.start.own_start ? "without its own start " : "", "(",
                                               separated(placements), ")"));
  return texts;
}

/// "another placement (pre-ln), gpt2 weights and 200 warm-up steps each cure it; so does deepnorm, which carries a start of its
/// own; embeddings of 0.02 did not".
std::string cures_in_words(const GridResult& result, const RowResult& row) {
  const bool one_each = row.tried.size() > 1 && std::ranges::all_of(row.tried, has_one_seed);
  const ChangeTexts cures = change_texts(result, row, true, one_each), others = change_texts(result, row, false, one_each);
  Texts parts;
  if (!cures.all.empty())
    parts.push_back(joined(cures.all) + (cures.all.size() > 1 ? " each cure it" : cures.is_plural ? " cure it" : " cures it"));
  if (!cures.own_starts.empty()) parts.push_back(trains_by_start(cures.own_starts, !parts.empty()));
  if (!others.all.empty()) parts.push_back(joined(others.all) + (cures.all.empty() ? " did not cure it" : " did not"));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
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

/// Of rows that another placement cures and nothing else did, each in another setting.
std::string counted_in_words(const GridResult& result, const GridChanges& changes, const std::vector<std::size_t>& rows) {
  std::vector<ChangeCount> placements, own_starts, others;
  for (const std::size_t row : rows)
    for (const TriedChange& tried : changes_tried(result, changes, row)) {
      const ChangeKind kind = kind_of(result, tried);
      const bool is_own = kind == ChangeKind::own_start, is_other = kind != ChangeKind::placement && !is_own;
      std::vector<ChangeCount>& into = is_other ? others : is_own ? own_starts : placements;
      const std::string& words = is_other ? tried.change : result.rows[tried.row].arrangement;
      auto at = std::ranges::find(into, words, &ChangeCount::change);
      if (at == into.end()) at = into.insert(into.end(), {words});
      ++at->tried;
      at->cured += tried.cures();
    }
  std::string text = concat("another placement cures it (", separated(by_count(placements, &ChangeCount::cured, rows.size())));
  const auto cured =
      static_cast<std::size_t>(std::ranges::count_if(own_starts, [](const ChangeCount& one) { return one.cured > 0; }));
  if (cured > 0)
    text += concat("; with a start of ", cured == 1 ? "its" : "their",
                   " own: ", separated(by_count(own_starts, &ChangeCount::cured, rows.size())));
  text += ")";
  if (others.empty()) return text;
  return text + concat("; nothing else did (tried: ", separated(by_count(others, &ChangeCount::tried, rows.size())), ")");
}

/// Another placement, and nothing else that was tried but arrangements with their own start.
bool is_cured_by_placement_alone(const GridResult& result, const std::vector<TriedChange>& all) {
  const auto cures_by = [&](ChangeKind kind) {
    return std::ranges::any_of(all, [&](const TriedChange& one) { return one.cures() && kind_of(result, one) == kind; });
  };
  return cures_by(ChangeKind::placement) && !cures_by(ChangeKind::start) && !cures_by(ChangeKind::rate);
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
        all.push_back({&setting, i, cures_in_words(result, row)});
  return all;
}

/// Those that placement alone cures, by other placements here and there, share words that count settings.
void count_settings(const GridResult& result, const GridChanges& changes, std::vector<FailedRow>& rows) {
  std::vector<FailedRow*> alone;
  std::vector<std::size_t> numbers;
  for (FailedRow& one : rows)
    if (is_cured_by_placement_alone(result, changes_tried(result, changes, one.row))) {
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
