// Rows of a grid that differ in placement alone, and what is said of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "addnorm/lab/grid_result.h"
#include "lab/grid/changes.h"

namespace addnorm {

using Texts = std::vector<std::string>;
std::string joined(const Texts& texts);  ///< "a", "a and b", "a, b and c"

/// Rows that differ in placement alone, each placement once.
struct Setting {
  std::string where{};  ///< how it differs from the others: "no warm-up, xavier weights"
  std::vector<std::size_t> rows{};
};
/// Of rows whose outcome is known, without copies that the grid did not ask for. Seeds are no factor, but other seeds are
/// another setting.
std::vector<Setting> settings_of(const GridResult& result, const GridChanges& changes);

/// How many seeds say so: "1 seed" where there is one, "2 of 3 seeds" where they disagree, else "".
std::string seeds_note(std::size_t agreeing, std::size_t done);

/// "deepnorm, which carries a start of its own": arrangements whose formula contains one differ from others in more than the
/// placement.
std::string with_start_of_their_own(const Texts& names);
/// "so does deepnorm, which carries a start of its own" after others, else "deepnorm, which carries a start of its own, trains".
std::string trains_by_start(const Texts& names, bool after_others);

/// What cures the rows that failed. Rows share a sentence where the same changes did the same; those of one arrangement that only
/// another placement cures share one that says in how many settings each change was seen.
Texts cure_sentences(const GridResult& result, const GridChanges& changes, const std::vector<Setting>& settings);

/// headline() of these settings.
std::string headline_of(const GridResult& result, const GridChanges& changes, const std::vector<Setting>& settings);

}  // namespace addnorm
