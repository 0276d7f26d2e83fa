// What cures a row that failed: the same configuration with one factor changed, one at a time.
#pragma once

#include <vector>

#include "lab/grid/changes.h"
#include "lab/outcome/confirm.h"

namespace addnorm {

/// Factors of TriedChange for another arrangement: where its formula or that of the row contains a start, that is changed as
/// well.
inline constexpr const char *kPlacement = "placement", *kPlacementAndStart = "placement and start";

/// What was tried of a row by changing one factor of it, or placement and start together: by factor, cures first.
std::vector<TriedChange> changes_tried(const GridResult& result, const GridChanges& changes, std::size_t row);

/// For arrangements that failed and whose grid does not say what another placement, other weights or a warm-up would do: copies
/// of their first such row with that one factor changed, while `processor_seconds` last. All get their first copy before any gets
/// its second. Copies that could not be held to one factor are left out, and so are rows that are `added` already.
std::vector<AddedRow> rows_that_try_factors(const GridResult& result, double& processor_seconds,
                                            const std::vector<AddedRow>& added = {});

/// Fills RowResult::tried of rows that failed from those that differ from them in one factor. Of each factor the changes that
/// cure come first, three of them at most; where none does, the first that was tried.
void note_cures(GridResult& result);

}  // namespace addnorm
