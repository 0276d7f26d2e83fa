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
  /// The samples with these numbers, cut to what a model takes (most: 0: any length) and padded to the longest of them.
  virtual Batch packed(std::uint64_t first, std::span<const std::uint32_t> numbers, std::size_t most) const = 0;
  virtual std::size_t samples() const = 0;
  virtual std::uint64_t bytes() const = 0;  ///< of memory
  /// Notes the longest sequences of what `options` leave, and how many samples they cut. DataError with the line: one is too
  /// long.
  virtual void fit(const FileOptions& /*options*/, SampleFile& /*file*/) const {}
};

/// Whether sample `number` is for validation: a hash of both below the share, so it stays where it is when samples are added.
bool for_validation(std::uint64_t seed, std::uint64_t number, double share);

/// Numbers of the samples for training and for validation. Neither is empty where there are two samples and the share is not 0.
struct SampleSplit {
  std::vector<std::uint32_t> training;
  std::vector<std::uint32_t> validation;
};
SampleSplit split_samples(std::uint64_t seed, std::size_t samples, double share);

/// Three views of a store, cut to `most`: all in order, training shuffled by (seed, epoch), validation in order.
void show(std::shared_ptr<const SampleStore> store, SampleSplit split, std::uint64_t seed, std::size_t most, SampleFile& file);

/// What of a table goes into a run's files, for core/json/record.h.
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
