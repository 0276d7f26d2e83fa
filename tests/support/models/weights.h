// Weights: named tensors of a checkpoint under our own paths, and a module filled with them.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "addnorm/nn/module.h"

namespace addnorm::test {

using Weights = std::map<std::string, Tensor>;

/// Every parameter of the module takes the weight of its path; one without the other, or another shape, is a failure.
inline void fill(Module& module, Weights weights) {
  for_each_parameter(module, [&](Parameter& p) {
    const auto found = weights.find(p.path);
    ASSERT_NE(found, weights.end()) << "the checkpoint has nothing for " << p.path;
    ASSERT_EQ(found->second.shape(), p.value.shape()) << p.path;
    p.value.value() = found->second;
    weights.erase(found);
  });
  for (const auto& left : weights) ADD_FAILURE() << "the model has no parameter " << left.first;
}

/// Matrices or vectors below each other: q, k and v; gate and ffn_in.
inline Tensor below_each_other(std::initializer_list<Tensor> parts) {
  std::vector<float> values;
  std::size_t rows = 0;
  for (const Tensor& part : parts) {
    const std::span<const float> all = part.values<float>();
    values.insert(values.end(), all.begin(), all.end());
    rows += part.shape()[0];
  }
  return Tensor::of(parts.begin()->shape().with(0, rows), values);
}

}  // namespace addnorm::test
