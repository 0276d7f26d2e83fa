// What a grid shows, in sentences that follow from its numbers: what the placement does at equal weights, what the weights do at
// equal placement, what cures a row that failed.
#include <algorithm>
#include <map>
#include <set>

#include "addnorm/core/error.h"
#include "addnorm/lab/grid_result.h"
#include "lab/confirm.h"
#include "lab/grid_changes.h"

namespace addnorm {
namespace {

using Texts = std::vector<std::string>;

/// "a", "a and b", "a, b and c".
std::string joined(const Texts& texts) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) all += concat(i == 0 ? "" : i + 1 < texts.size() ? ", " : " and ", texts[i]);
  return all;
}

std::string with_verb(const Texts& names, const char* one, const char* several) {
  return concat(joined(names), names.size() == 1 ? one : several);
}

/// Rows that differ in placement alone.
struct Setting {
  std::string where{};  ///< "12 layers, no warm-up, xavier weights"
  std::vector<std::size_t> rows{};
};

/// The label without its first word, the arrangement.
std::string where_of(const RowResult& row) {
  const std::size_t comma = row.label.find(", ");
  return comma == std::string::npos ? "" : row.label.substr(comma + 2);
}

/// Words of a label that all settings share say nothing here: "12 layers".
void leave_out_shared_words(std::vector<Setting>& settings) {
  const auto words_of = [](const std::string& text) {
    Texts words;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(", ", begin), text.size());
      words.push_back(text.substr(begin, end - begin));
      begin = end + 2;
    }
    return words;
  };
  if (settings.size() < 2) return;
  std::vector<Texts> all;
  for (const Setting& setting : settings) all.push_back(words_of(setting.where));
  for (std::size_t i = 0; i < settings.size(); ++i) {
    settings[i].where.clear();
    for (const std::string& word : all[i]) {
      const auto has = [&](const Texts& words) { return std::ranges::find(words, word) != words.end(); };
      if (!std::ranges::all_of(all, has)) settings[i].where += (settings[i].where.empty() ? "" : ", ") + word;
    }
  }
}

std::vector<Setting> settings_of(const GridResult& result, const GridChanges& changes) {
  std::vector<Setting> all;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const RowResult& row = result.rows[i];
    if (row.instead_of || result.is_repeated(i) || !(has_trained(row) || has_failed(row))) continue;
    const auto [at, fresh] = known.emplace(changes.same_but(i, "arrangement"), all.size());
    if (fresh) all.push_back({.where = where_of(row)});
    all[at->second].rows.push_back(i);
  }
  return all;
}

std::string outcome_of(const GridResult& result, const Setting& setting) {
  Texts good, late, bad;
  for (const std::size_t i : setting.rows) {
    const RowResult& row = result.rows[i];
    (has_trained(row) ? good : row.slow() ? late : bad).push_back(row.arrangement);
  }
  Texts parts;
  if (!good.empty()) parts.push_back(with_verb(good, " trains", " train"));
  const char *one_fails = good.empty() ? " does not train" : " does not",
             *several_fail = good.empty() ? " do not train" : " do not";
  if (!bad.empty()) parts.push_back(with_verb(bad, one_fails, several_fail));
  if (!late.empty()) parts.push_back(with_verb(late, " is slow", " are slow"));
  std::string text = setting.where.empty() ? "" : setting.where + ": ";
  for (std::size_t i = 0; i < parts.size(); ++i) text += concat(i == 0 ? "" : "; ", parts[i]);
  return text + ".";
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
  for (std::size_t i = 0; i < tried.size();) {
    const TriedChange& first = tried[i];
    Texts changes;
    for (; i < tried.size() && tried[i].factor == first.factor && tried[i].cures() == first.cures(); ++i)
      changes.push_back(tried[i].change);
    Texts& texts = first.cures() ? cures : others;
    for (std::string& text : change_words(first.factor, changes)) texts.push_back(std::move(text));
    if (first.cures()) is_plural = first.factor != "placement" && first.factor != "rate";
  }
  std::string text;
  if (!cures.empty()) text = joined(cures) + (cures.size() > 1 ? " each cure it" : is_plural ? " cure it" : " cures it");
  if (!others.empty()) text += concat(text.empty() ? "" : "; ", joined(others), cures.empty() ? " did not cure it" : " did not");
  return text;
}

/// What was tried of several rows, each change once, in the order of a row: by factor, cures first.
std::vector<TriedChange> all_tried(const GridResult& result, const std::vector<std::size_t>& rows) {
  std::vector<TriedChange> all;
  for (const std::size_t row : rows)
    for (const TriedChange& tried : result.rows[row].tried) {
      if (std::ranges::find(all, tried.change, &TriedChange::change) != all.end()) continue;
      const auto same = [&](const TriedChange& one) { return one.factor == tried.factor && (one.cures() || !tried.cures()); };
      const auto last = std::find_if(all.rbegin(), all.rend(), same);
      all.insert(last == all.rend() ? all.end() : last.base(), tried);
    }
  return all;
}

/// Another placement, and nothing else that was tried.
bool is_cured_by_placement_alone(const RowResult& row) {
  return !row.tried.empty() &&
         std::ranges::all_of(row.tried, [](const TriedChange& one) { return one.cures() == (one.factor == "placement"); });
}

/// Rows that fail and are cured alike share a sentence, and so do all rows of an arrangement that only another one cures.
Texts cure_sentences(const GridResult& result, const std::vector<Setting>& settings) {
  struct Group {
    std::string cures;
    Texts names, where;
    std::set<const Setting*> settings;
  };
  const auto add_once = [](Texts& texts, const std::string& text) {
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  };
  std::map<std::string, std::vector<std::size_t>> only_placement;  // by arrangement
  for (const Setting& setting : settings)
    for (const std::size_t i : setting.rows)
      if (is_cured_by_placement_alone(result.rows[i])) only_placement[result.rows[i].arrangement].push_back(i);
  std::vector<Group> groups;
  for (const Setting& setting : settings)
    for (const std::size_t i : setting.rows) {
      const RowResult& row = result.rows[i];
      const auto alike = only_placement.find(row.arrangement);
      const bool is_alike = alike != only_placement.end() && std::ranges::find(alike->second, i) != alike->second.end();
      const std::string cures = cures_in_words(is_alike ? all_tried(result, alike->second) : row.tried);
      if (cures.empty()) continue;
      auto same = std::ranges::find(groups, cures, &Group::cures);
      if (same == groups.end()) same = groups.insert(groups.end(), {cures, {}, {}, {}});
      add_once(same->names, row.arrangement);
      add_once(same->where, setting.where);
      same->settings.insert(&setting);
    }
  Texts all;
  for (const Group& group : groups) {
    std::string where;
    for (const std::string& one : group.where) where += (where.empty() ? "" : "; ") + one;
    if (group.settings.size() > 2) where = concat("in ", group.settings.size(), " settings");
    all.push_back(concat(joined(group.names), where.empty() ? "" : concat(" (", where, ")"), ": ", group.cures, "."));
  }
  return all;
}

/// Whether the formula that texts print as pre-LN did what post-LN did, setting by setting.
std::string about_misprint(const GridResult& result, const std::vector<Setting>& settings) {
  std::size_t both = 0, alike = 0, differs_from_pre = 0;
  for (const Setting& setting : settings) {
    const auto find = [&](const char* name) -> const RowResult* {
      const auto named = [&](std::size_t i) { return result.rows[i].arrangement == name; };
      const auto found = std::ranges::find_if(setting.rows, named);
      return found == setting.rows.end() ? nullptr : &result.rows[*found];
    };
    const RowResult *post = find("post-ln"), *printed = find("norm-skip"), *pre = find("pre-ln");
    if (!post || !printed) continue;
    ++both;
    alike += has_trained(*post) == has_trained(*printed);
    differs_from_pre += pre && has_trained(*pre) != has_trained(*printed);
  }
  if (both == 0) return "";
  std::string text = concat("norm-skip, LN(x) + F(LN(x)), which texts print as pre-LN, did as post-ln did in ", alike, " of ",
                            both, both == 1 ? " setting" : " settings");
  if (differs_from_pre > 0) text += concat(", and not as pre-ln did in ", differs_from_pre);
  return text + ".";
}

}  // namespace

std::vector<std::string> findings(const GridResult& result) {
  constexpr std::size_t kMostSettings = 8;
  const GridChanges changes(result);
  std::vector<Setting> settings = settings_of(result, changes);
  const bool compares = std::ranges::any_of(settings, [](const Setting& one) { return one.rows.size() > 1; });
  if (!compares || settings.size() > kMostSettings) return {};
  leave_out_shared_words(settings);
  Texts all;
  for (const Setting& setting : settings) all.push_back(outcome_of(result, setting));
  if (std::string misprint = about_misprint(result, settings); !misprint.empty()) all.push_back(std::move(misprint));
  for (std::string& cure : cure_sentences(result, settings)) all.push_back(std::move(cure));
  return all;
}

}  // namespace addnorm
