// What a grid shows, in sentences that follow from its numbers: what the placement does at equal weights, what the weights do at
// equal placement, what cures a row that failed.
#include <algorithm>
#include <map>

#include "addnorm/core/error.h"
#include "addnorm/lab/grid_result.h"
#include "lab/grid/changes.h"
#include "lab/grid/settings.h"
#include "lab/outcome/confirm.h"

namespace addnorm {
namespace {

std::string with_verb(const Texts& names, const char* one, const char* several) {
  return concat(joined(names), names.size() == 1 ? one : several);
}

/// The label without its first word, the arrangement: of the first row whose weights have no gains of the formula.
std::string where_of(const GridResult& result, const std::vector<std::size_t>& rows) {
  const auto has_plain_weights = [&](std::size_t i) {
    return result.rows[i].start.weights_in_label == result.rows[i].start.weights_in_words;
  };
  const auto plain = std::ranges::find_if(rows, has_plain_weights);
  const std::string& label = result.rows[plain == rows.end() ? rows.front() : *plain].label;
  const std::size_t comma = label.find(", ");
  return comma == std::string::npos ? "" : label.substr(comma + 2);
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

std::string with_note(const std::string& text, const std::string& note) {
  return note.empty() ? text : concat(text, " (", note, ")");
}

std::string outcome_of(const GridResult& result, const Setting& setting) {
  const auto has_one = [&](std::size_t i) { return result.rows[i].done == 1; };
  const bool one_each = std::ranges::all_of(setting.rows, has_one);
  Texts good, own, late, bad;
  for (const std::size_t i : setting.rows) {
    const RowResult& row = result.rows[i];
    const std::size_t agreeing = has_trained(row) ? row.trained : row.done - row.trained - row.too_short;
    const bool is_own = row.start.own_start && setting.rows.size() > 1;
    (!has_trained(row) ? row.slow() ? late : bad
     : is_own          ? own
                       : good)
        .push_back(with_note(row.arrangement, one_each ? "" : seeds_note(agreeing, row.done)));
  }
  Texts parts;
  if (!good.empty()) parts.push_back(with_verb(good, " trains", " train"));
  if (!own.empty()) parts.push_back(trains_by_start(own, !good.empty()));
  const char *one_fails = parts.empty() ? " does not train" : " does not",
             *several_fail = parts.empty() ? " do not train" : " do not";
  if (!bad.empty()) parts.push_back(with_verb(bad, one_fails, several_fail));
  if (!late.empty()) parts.push_back(with_verb(late, " is slow", " are slow"));
  std::string text = setting.where.empty() ? "" : setting.where + ": ";
  for (std::size_t i = 0; i < parts.size(); ++i) text += concat(i == 0 ? "" : "; ", parts[i]);
  return with_note(text, !one_each ? "" : setting.rows.size() == 1 ? "1 seed" : "1 seed each") + ".";
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
  std::string text = concat("norm-skip, LN(x) + F(LN(x)), which texts print as pre-LN, did ");
  if (both == 1) {
    text += alike == 1 ? "as post-ln did" : "not do as post-ln did";
    return text + (differs_from_pre == 1 ? ", and not as pre-ln did." : ".");
  }
  text += concat("as post-ln did in ", alike, " of ", both, " settings");
  if (differs_from_pre > 0) text += concat(", and not as pre-ln did in ", differs_from_pre);
  return text + ".";
}

/// Settings of which something is said; none where no two rows differ in placement alone, and where there are many.
std::vector<Setting> reported_settings(const GridResult& result, const GridChanges& changes) {
  constexpr std::size_t kMostSettings = 8;
  std::vector<Setting> settings = settings_of(result, changes);
  const bool compares = std::ranges::any_of(settings, [](const Setting& one) { return one.rows.size() > 1; });
  if (!compares || settings.size() > kMostSettings) return {};
  return settings;
}

}  // namespace

std::string joined(const Texts& texts) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) all += concat(i == 0 ? "" : i + 1 < texts.size() ? ", " : " and ", texts[i]);
  return all;
}

std::string with_start_of_their_own(const Texts& names) {
  return concat(joined(names), names.size() == 1 ? ", which carries a start of its own" : ", which carry a start of their own");
}

std::string trains_by_start(const Texts& names, bool after_others) {
  if (after_others) return concat(names.size() == 1 ? "so does " : "so do ", with_start_of_their_own(names));
  return concat(with_start_of_their_own(names), names.size() == 1 ? ", trains" : ", train");
}

std::string seeds_note(std::size_t agreeing, std::size_t done) {
  return done == 1 ? "1 seed" : agreeing == done ? "" : concat(agreeing, " of ", done, " seeds");
}

std::vector<Setting> settings_of(const GridResult& result, const GridChanges& changes) {
  std::vector<Setting> all;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const RowResult& row = result.rows[i];
    if (row.instead_of || result.is_repeated(i) || !(has_trained(row) || has_failed(row))) continue;
    const std::string key = concat(changes.same_but(i, "arrangement"), "seed ", row.row.first_seed);
    const auto [at, fresh] = known.emplace(key, all.size());
    if (fresh) all.emplace_back();
    all[at->second].rows.push_back(i);
  }
  for (Setting& setting : all) setting.where = where_of(result, setting.rows);
  leave_out_shared_words(all);
  return all;
}

std::string headline(const GridResult& result) {
  const GridChanges changes(result);
  return headline_of(result, changes, reported_settings(result, changes));
}

std::vector<std::string> findings(const GridResult& result) {
  const GridChanges changes(result);
  const std::vector<Setting> settings = reported_settings(result, changes);
  Texts all;
  if (std::string first = headline_of(result, changes, settings); !first.empty()) all.push_back(std::move(first));
  for (const Setting& setting : settings) all.push_back(outcome_of(result, setting));
  if (std::string misprint = about_misprint(result, settings); !misprint.empty()) all.push_back(std::move(misprint));
  for (std::string& cure : cure_sentences(result, changes, settings)) all.push_back(std::move(cure));
  return all;
}

}  // namespace addnorm
