// The peak of this machine: multiply-adds that never leave the registers. A model's speed is read as a share of it.
#pragma once

#include <cstddef>

namespace addnorm::kernels {

/// Multiply-adds on registers alone, on threads() threads, with the widest instructions of this processor that we compile for.
/// Returns the number of floating-point operations done: two per multiply-add and lane.
double multiply_add(std::size_t rounds);

/// The most that one thread reaches now within some twenty milliseconds, times the number of threads, in operations per second.
double fma_peak(int threads);

}  // namespace addnorm::kernels
