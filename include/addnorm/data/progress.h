// Progress: a callback that follows long work and can stop it.
#pragma once

#include <functional>

namespace addnorm {

/// Called now and then during long work with the share that is done, 0 ... 1. False: stop. The result is then null, and no file
/// is left over.
using Progress = std::function<bool(double share)>;

}  // namespace addnorm
