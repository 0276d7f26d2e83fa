// Small snapshots whose values show their step, and whether two are the same.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "addnorm/train/checkpoint.h"
#include "support/near.h"

namespace addnorm::test {

inline Snapshot snapshot_of(std::int64_t step, std::size_t rows = 7) {
  const auto seed = static_cast<std::uint64_t>(step);
  return {.step = step,
          .tensors = {{"model.embedding.weight", normal_tensor({rows, 5}, seed)},
                      {"optimizer.embedding.weight.m", normal_tensor({rows, 5}, seed + 1)},
                      {"model.none", Tensor(Shape{0, 3})},
                      {"model.scalar", Tensor::full({}, static_cast<double>(step))}},
          .record = concat(R"({"step": )", step, R"(, "words": "\"quoted\" \u00e9 \u001f"})")};
}

inline testing::AssertionResult same(const Snapshot& got, const Snapshot& want) {
  if (got.step != want.step) return testing::AssertionFailure() << "step " << got.step << " instead of " << want.step;
  if (got.record != want.record) return testing::AssertionFailure() << "record " << got.record;
  if (got.tensors.size() != want.tensors.size()) return testing::AssertionFailure() << got.tensors.size() << " tensors";
  for (std::size_t i = 0; i < want.tensors.size(); ++i) {
    if (got.tensors[i].first != want.tensors[i].first) return testing::AssertionFailure() << got.tensors[i].first;
    if (got.tensors[i].second.shape() != want.tensors[i].second.shape()) return testing::AssertionFailure() << "shape of " << i;
    const auto same_values = same_bits(got.tensors[i].second.values<float>(), want.tensors[i].second.values<float>());
    if (!same_values) return same_values;
  }
  return testing::AssertionSuccess();
}

}  // namespace addnorm::test
