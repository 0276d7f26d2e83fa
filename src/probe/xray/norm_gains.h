// The gains of all norms of a model, by their places.
#pragma once

#include "addnorm/probe/xray.h"

namespace addnorm {

/// In the order of the traversal: entry, units, exit, then norms inside branches. Norms without gains are not in it.
std::vector<NormGains> norm_gains(Model& model);

}  // namespace addnorm
