// Confirming a cause: the same configuration with one thing changed, which trains.
#pragma once

#include <vector>

#include "addnorm/lab/grid_result.h"

namespace addnorm {

bool has_failed(const RowResult& row);   ///< half of its runs or more did not train
bool has_trained(const RowResult& row);  ///< more than half of them did
std::size_t warmup_of(const RowResult& row);
/// `other` is `row` with more warm-up steps, and nothing else.
bool only_more_warmup(const RowResult& row, const RowResult& other);

/// A changed copy of a row that failed.
struct AddedRow {
  GridRow row;
  std::size_t instead_of;
};

/// GridSpec::with_warmup: rows that failed and have no copy with that many warm-up steps yet.
std::vector<AddedRow> rows_with_warmup(const GridResult& result);

/// For rows that failed, of which the grid has no copy with only one thing changed that trains: one with the change that speaks
/// for their cause (a warm-up, a tenth of the rate). As far as `processor_seconds` go, by the time that the row itself took.
std::vector<AddedRow> rows_that_would_confirm(const GridResult& result, double processor_seconds);

/// Writes into the causes of rows by which other row they are confirmed.
void note_confirmations(GridResult& result);

}  // namespace addnorm
