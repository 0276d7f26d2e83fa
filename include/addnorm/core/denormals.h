// Denormal floats: those below 1.2e-38 in size, which many processors compute ten times slower than others.
#pragma once

namespace addnorm {

/// From now on this thread, and every thread that it starts, takes denormal floats for 0 and gives 0 in their place. For programs
/// that train: where the gradient vanishes, lower layers are full of them. Call it before threads exist, first in main; those
/// that run already keep their mode. Does nothing on processors other than x86. The library itself never changes the mode.
void flush_denormals();

}  // namespace addnorm
