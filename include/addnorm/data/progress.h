// Progress: who is asked now and then, during long work, whether it shall go on.
#pragma once

#include <functional>

namespace addnorm {

/// Called now and then during long work with the share that is done, 0 ... 1. False: stop. What was to be made is then null, and
/// no file is left over.
using Progress = std::function<bool(double share)>;

}  // namespace addnorm
