// The arguments of the cross-entropy kernels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace addnorm::kernels {

template <class T>
struct CrossEntropyArgs {
  std::size_t rows = 0;
  std::size_t classes = 0;
  const T* logits = nullptr;              ///< [rows, classes]
  const std::int32_t* targets = nullptr;  ///< [rows], each in [0, classes) or ignore_index
  const T* class_weights = nullptr;       ///< [classes], finite and >= 0; null: all 1
  std::int32_t ignore_index = -100;       ///< rows with this target: loss 0, gradient 0, their logits are not looked at
  double label_smoothing = 0;             ///< 0 ... 1
  double gradient_scale = 1;              ///< every gradient is multiplied by it
  double* losses = nullptr;               ///< [rows]
  T* dlogits = nullptr;                   ///< [rows, classes], may be logits; null: not wanted
};

}  // namespace addnorm::kernels
