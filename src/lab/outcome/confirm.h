// What other rows of a grid say of one that failed: which of them confirms its cause, the same configuration with one thing
// changed that bears on it, and which factors, changed one at a time, cure it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "addnorm/lab/grid_result.h"
#include "core/json/json.h"
#include "lab/grid/changes.h"

namespace addnorm {

/// Half of its runs or more did not train; those that were too short to tell might have.
bool has_failed(const RowResult& row);
bool has_trained(const RowResult& row);  ///< more than half of them did

/// A changed copy of a row that failed.
struct AddedRow {
  GridRow row;
  std::size_t instead_of;
  std::string factor{};  ///< that it tries (cures.cpp)
};

/// The row with these options in place of its own; null takes one away. `words`: what its place calls them.
GridRow changed(const RowResult& row, const Json& more, const FieldWords& words = nullptr);
/// Another arrangement that starts as the row does: the change for changed(). Nothing: no options make it start so.
std::optional<Json> as_arrangement(const RowResult& row, const std::string& name);
/// The row from another rule, with its own embeddings: the change for changed(). Nothing: these would be others, or the weights
/// the same.
std::optional<Json> from_other_weights(const RowResult& row);
bool is_there(const GridResult& result, const GridRow& row);  ///< a row with these options and as many seeds
bool is_among(const std::vector<AddedRow>& added, const GridRow& row);
/// Takes off what a copy of the row would need; false: there is not enough left.
bool afford(const GridResult& result, const RowResult& row, double& processor_seconds);

/// GridSpec::with_warmup: rows that failed and have no copy with that many warm-up steps yet.
std::vector<AddedRow> rows_with_warmup(const GridResult& result);

/// For rows that failed and whose cause no row of the grid confirms: one with the change that would speak for it (a warm-up, an
/// arrangement that trains with less warm-up, a tenth of the rate). As far as `processor_seconds` go, roughly: a copy is taken to
/// need as much time for its work as all runs together needed for theirs, in all of its steps, however early the row itself broke
/// off. What is left of the time is in `processor_seconds` afterwards. Rows that are `added` already cost nothing, and are left
/// out.
std::vector<AddedRow> rows_that_would_confirm(const GridResult& result, double& processor_seconds,
                                              const std::vector<AddedRow>& added = {});

/// Writes into the causes of rows what other rows say of them. A cause is confirmed by a row that trains and differs in one thing
/// only, one that bears on such a cause:
///
///   all of them but unknown and slow          a lower rate
///   all but those and branches die            more warm-up steps
///   alike, vanishes, explodes, grows,         another arrangement, other weights, other embeddings
///     rank collapse, branches die
///   attention collapse                        a norm of queries and keys
///   late divergence                           clipping at a lower norm
///
/// and whose probes, where its runs have some, do not show the same cause. What else trains is reported, and confirms nothing:
/// fewer layers, more steps, another arrangement with less warm-up.
void note_confirmations(GridResult& result);

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
