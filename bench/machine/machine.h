// What this machine can do at most: loops that only move memory, or only multiply and add in registers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "bench/machine/buffers.h"

namespace addnorm::bench {

/// Which streams a loop reads and writes at once: processors and DRAM are not as fast with all mixtures.
enum class Traffic {
  copy,                  ///< y = x: layer norm forward
  two_read_one_write,    ///< y = x + f: layer norm backward
  three_read_one_write,  ///< y = x + f + g: Add & Norm backward
  two_read_two_write,    ///< s = x + f, y = x - f: Add & Norm forward
};
inline constexpr Traffic kTraffics[] = {Traffic::copy, Traffic::two_read_one_write, Traffic::three_read_one_write,
                                        Traffic::two_read_two_write};
enum class StoreKind { regular, streaming };

constexpr std::size_t writes_of(Traffic traffic) { return traffic == Traffic::two_read_two_write ? 2 : 1; }
constexpr std::size_t arrays_of(Traffic traffic) {
  return traffic == Traffic::copy ? 2 : traffic == Traffic::two_read_one_write ? 3 : 4;
}

/// A loop that moves arrays of `floats` each and computes next to nothing, on threads() threads.
/// arrays: those that are read, then those that are written; 64-byte aligned.
void move_memory(Traffic traffic, StoreKind stores, float* const* arrays, std::size_t floats);

/// Reads an array of floats and adds them up, on threads() threads.
void read_memory(const float* array, std::size_t floats);

enum class Level { l2, l3, dram };

struct CacheSizes {
  std::size_t l2_per_core = 0;
  std::size_t l3 = 0;
};
CacheSizes cache_sizes();

/// Bytes at which a level is measured: well inside the cache (the L2 caches of all threads together), or far beyond all.
std::size_t working_set(Level level, int threads);

/// The memory loop over `bytes` in all its arrays together, to be run again and again beside the kernels it limits.
class MemoryLimit {
 public:
  MemoryLimit(Traffic traffic, std::size_t bytes);
  void run(StoreKind stores) const { move_memory(traffic_, stores, arrays_.data(), floats_); }
  double bytes() const { return static_cast<double>(arrays_.size() * floats_ * sizeof(float)); }
  /// Moves that many floats of each array, at every call those that follow: a loop as long as one call of a kernel, so that both
  /// suffer alike from whatever interrupts them. Returns the bytes moved.
  double run_piece(StoreKind stores, std::size_t floats);
  /// What it has written, array by array.
  std::vector<std::span<const float>> written() const;

 private:
  Traffic traffic_;
  std::size_t floats_;
  std::size_t next_ = 0;  // float, of the next piece
  std::unique_ptr<Buffers> memory_;
  std::vector<float*> arrays_;
};

/// The same for reading alone: what bounds a product of one row with matrices that are all read once.
class ReadLimit {
 public:
  explicit ReadLimit(std::size_t bytes);
  void run() const { read_memory(array_, floats_); }
  double bytes() const { return static_cast<double>(floats_ * sizeof(float)); }

 private:
  std::size_t floats_;
  std::unique_ptr<Buffers> memory_;
  const float* array_;
};

struct BandwidthLimit {
  Traffic traffic;
  Level level;
  StoreKind stores;
  int threads;
  double bytes_per_second;
};
struct FmaLimit {
  int threads;
  double flops_per_second;
};
struct Machine {
  CacheSizes caches;
  std::vector<BandwidthLimit> bandwidth;
  std::vector<FmaLimit> fma;
};

/// Measures everything, best of many short runs; about `seconds` per figure.
Machine measure_machine(const std::vector<int>& thread_counts, double seconds);

const char* name_of(Level level);
const char* name_of(Traffic traffic);  ///< "2 reads + 2 writes"
const char* code_of(Traffic traffic);  ///< "2r2w"
const char* name_of(StoreKind stores);

}  // namespace addnorm::bench
