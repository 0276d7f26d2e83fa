// The values of a file in their places.
#pragma once

#include "model/import/weights/layout.h"

namespace addnorm::importing {

/// Reads every tensor straight into the parameter it belongs to, and compares what only repeats one. NaN and infinities are a
/// DataError unless they are allowed.
void fill(Model& model, const WeightSource& source, const Accounts& accounts, bool allow_nonfinite);

}  // namespace addnorm::importing
