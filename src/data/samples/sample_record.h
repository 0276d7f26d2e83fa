// What of a table goes into a run's files.
#pragma once

#include "addnorm/data/sample_files.h"

namespace addnorm {

/// For core/json/record.h.
template <class Io>
void fields(Io& io, TableRecord& value) {
  io("features", value.features);
  io("label", value.label);
  io("label_column", value.label_column);
  io("classes", value.classes);
  io("mean", value.mean);
  io("deviation", value.deviation);
}

}  // namespace addnorm
