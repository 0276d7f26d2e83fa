// Communicator: how the ranks that train one model together exchange what a step must agree on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace addnorm {

/// One of size() trainers, in processes or threads, that take the same steps at the same time, each on its own samples. All of
/// them call the same functions in the same order with lists of the same lengths, and all of them get the same bits. An
/// implementation that cannot reach the others throws an Error; no rank has changed its model then.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual std::size_t rank() const = 0;  ///< 0 ... size() - 1
  virtual std::size_t size() const = 0;  ///< at least 1

  /// Each value becomes its sum over all ranks. Ranks are added in one order, whichever arrives first: neighbours by twos, these
  /// sums by twos, and so on, ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), where a sum without a neighbour waits for the next
  /// round. So a rank may itself be the sum of blocks of samples, added in the same way. All lists of a step come in one call:
  /// how they are cut into messages is up to the implementation.
  virtual void sum(std::span<const std::span<float>> lists) = 0;
  virtual void sum(std::span<double> values) = 0;
  /// Each value becomes the largest that any rank has.
  virtual void largest(std::span<std::int32_t> values) = 0;
};

/// The only rank: nothing is exchanged, and a trainer never asks.
Communicator& alone();

}  // namespace addnorm
