// PackedWeight: a matrix in the form that products read fastest, for models that only compute.
#pragma once

#include "addnorm/autograd/ops.h"

namespace addnorm {

/// W [out, in], laid out for products (kernels/gemm/packed.h). Packing cannot be undone: to train or save a weight,
/// keep it unpacked.
class PackedWeight {
 public:
  PackedWeight() = default;  ///< undefined
  /// w [out, in], float32. Its memory is taken over where `out` is a multiple of a panel's columns (16, 24 or 32, by the machine)
  /// and no other Tensor holds it (move it here): packing then needs memory for that many rows only. Otherwise it is copied.
  explicit PackedWeight(Tensor w);

  bool defined() const { return panels_.defined(); }
  std::size_t out() const { return out_; }
  std::size_t in() const { return in_; }

 private:
  friend Tensor packed_linear(const Tensor& x, const PackedWeight& w, const Tensor& bias, LinearActivation activation);

  Tensor panels_;
  std::size_t out_ = 0, in_ = 0;
};

/// y = f(x W^T + bias), without a graph: x [..., in] float32, bias [out] or Tensor() for none -> [..., out].
///
/// A row of y depends on its row of x alone: the same bits alone, in any batch and for any number of threads. They are not those
/// of linear(), which sums in another order.
Tensor packed_linear(const Tensor& x, const PackedWeight& w, const Tensor& bias = Tensor(),
                     LinearActivation activation = LinearActivation::none);

}  // namespace addnorm
