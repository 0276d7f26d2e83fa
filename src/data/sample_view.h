// A finite set of samples in memory, and datasets that show parts of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "addnorm/data/dataset.h"
#include "addnorm/data/sample_files.h"

namespace addnorm {

class SampleStore {
 public:
  virtual ~SampleStore() = default;
  /// The samples with these numbers, padded to the longest of them.
  virtual Batch packed(std::uint64_t first, std::span<const std::uint32_t> numbers) const = 0;
};

/// Whether sample `number` is for validation: a hash of both below the share, so it stays where it is when samples are added.
bool for_validation(std::uint64_t seed, std::uint64_t number, double share);

/// Numbers of the samples for training and for validation. Neither is empty where there are two samples and the share is not 0.
struct SampleSplit {
  std::vector<std::uint32_t> training;
  std::vector<std::uint32_t> validation;
};
SampleSplit split_samples(std::uint64_t seed, std::size_t samples, double share);

/// Three views of a store: all in order, training shuffled by (seed, epoch), validation in order.
void show(std::shared_ptr<const SampleStore> store, std::size_t samples, SampleSplit split, std::uint64_t seed, SampleFile& file);

}  // namespace addnorm
