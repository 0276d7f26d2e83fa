#include "bench/machine/machine.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "addnorm/core/parallel.h"
#include "addnorm/kernels/fma_peak.h"
#include "bench/slice.h"

namespace addnorm::bench {
namespace {

/// Size of the cache of that level which the first core uses. Not sysconf: for L3 it counts those of the whole chip.
std::size_t cache_size(int level, std::size_t otherwise) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    int its_level = 0;
    std::size_t kib = 0;
    std::ifstream(folder + "level") >> its_level;
    std::ifstream(folder + "size") >> kib;  // "512K"
    if (its_level == level && kib > 0) return kib << 10;
  }
  return otherwise;
}

std::vector<float*> take_arrays(Buffers& memory, std::size_t count, std::size_t floats) {
  std::vector<float*> arrays(count);
  for (float*& array : arrays) array = memory.take(floats);
  return arrays;
}

double best_rate(const MemoryLimit& limit, StoreKind stores, double seconds) {
  const auto times = time_calls(seconds, 2, [&] { limit.run(stores); });
  return limit.bytes() / *std::min_element(times.begin(), times.end());
}

}  // namespace

CacheSizes cache_sizes() { return {cache_size(2, std::size_t{1} << 20), cache_size(3, std::size_t{32} << 20)}; }

std::size_t working_set(Level level, int threads) {
  const CacheSizes caches = cache_sizes();
  switch (level) {
    case Level::l2:
      return caches.l2_per_core * static_cast<std::size_t>(threads) / 2;
    case Level::l3:
      return caches.l3 / 4;  // of a cache that other machines on the same chip may share
    case Level::dram:
      break;
  }
  return std::max(8 * caches.l3, std::size_t{256} << 20);
}

MemoryLimit::MemoryLimit(Traffic traffic, std::size_t bytes)
    : traffic_(traffic),
      floats_(bytes / sizeof(float) / arrays_of(traffic) / 1024 * 1024),
      memory_(std::make_unique<Buffers>(floats_ * sizeof(float) * arrays_of(traffic), arrays_of(traffic))),
      arrays_(take_arrays(*memory_, arrays_of(traffic), floats_)) {}

double MemoryLimit::run_piece(StoreKind stores, std::size_t floats) {
  floats = std::min(floats, floats_);
  if (next_ + floats > floats_) next_ = 0;
  std::array<float*, 4> piece{};
  for (std::size_t i = 0; i < arrays_.size(); ++i) piece[i] = arrays_[i] + next_;
  move_memory(traffic_, stores, piece.data(), floats);
  next_ += floats;
  return static_cast<double>(arrays_.size() * floats * sizeof(float));
}

std::vector<std::span<const float>> MemoryLimit::written() const {
  std::vector<std::span<const float>> result;
  for (std::size_t i = arrays_.size() - writes_of(traffic_); i < arrays_.size(); ++i) result.emplace_back(arrays_[i], floats_);
  return result;
}

ReadLimit::ReadLimit(std::size_t bytes)
    : floats_(bytes / sizeof(float) / 1024 * 1024),
      memory_(std::make_unique<Buffers>(floats_ * sizeof(float), 1)),
      array_(memory_->take(floats_)) {}

Machine measure_machine(const std::vector<int>& thread_counts, double seconds) {
  Machine machine{cache_sizes(), {}, {}};
  const int before = threads();
  for (const int count : thread_counts) {
    set_threads(count);
    const auto flops = kernels::multiply_add(1000);
    const auto times = time_calls(seconds, 3, [] { kernels::multiply_add(100'000); });
    machine.fma.push_back({count, 100 * flops / *std::min_element(times.begin(), times.end())});
    for (const Traffic traffic : kTraffics)
      for (const Level level : {Level::l2, Level::l3, Level::dram}) {
        const MemoryLimit limit(traffic, working_set(level, count));
        for (const StoreKind stores : {StoreKind::regular, StoreKind::streaming})
          machine.bandwidth.push_back({traffic, level, stores, count, best_rate(limit, stores, seconds)});
      }
  }
  set_threads(before);
  return machine;
}

const char* name_of(Level level) { return level == Level::l2 ? "L2" : level == Level::l3 ? "L3" : "DRAM"; }
const char* name_of(StoreKind stores) { return stores == StoreKind::regular ? "regular" : "streaming"; }

const char* name_of(Traffic traffic) {
  constexpr const char* kNames[] = {"copy", "2 reads + 1 write", "3 reads + 1 write", "2 reads + 2 writes"};
  return kNames[static_cast<std::size_t>(traffic)];
}

const char* code_of(Traffic traffic) {
  constexpr const char* kCodes[] = {"copy", "2r1w", "3r1w", "2r2w"};
  return kCodes[static_cast<std::size_t>(traffic)];
}

}  // namespace addnorm::bench
