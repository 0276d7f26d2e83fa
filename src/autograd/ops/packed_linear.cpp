#include "addnorm/autograd/packed_linear.h"

#include <algorithm>
#include <utility>

#include "autograd/ops/linear_activation.h"
#include "kernels/gemm/packed.h"

namespace addnorm {

PackedWeight::PackedWeight(Tensor w) {
  require(w.defined() && w.shape().rank() == 2 && w.dtype() == DType::f32, "PackedWeight: w is ",
          w.defined() ? w.shape().text() : "undefined", "; a float32 matrix [out, in] is needed");
  out_ = w.shape()[0];
  in_ = w.shape()[1];
  const std::size_t columns = kernels::panel_columns();
  if (!w.unique() || out_ % columns != 0) {
    panels_ = Tensor({kernels::packed_elements(out_, in_)});
    kernels::pack_weight(w.data<float>(), out_, in_, panels_.data<float>());
    return;
  }
  // A panel takes exactly the place of its rows.
  Tensor rows({columns, in_});
  float* data = w.data<float>();
  for (std::size_t j = 0; j < out_; j += columns, data += rows.elements()) {
    std::copy_n(data, rows.elements(), rows.data<float>());
    kernels::pack_weight(rows.data<float>(), columns, in_, data);
  }
  panels_ = std::move(w);
}

Tensor packed_linear(const Tensor& x, const PackedWeight& w, const Tensor& bias, LinearActivation activation) {
  require(w.defined(), "packed_linear: the weight is undefined");
  require(x.defined() && x.dtype() == DType::f32 && x.shape().rank() >= 1 && x.shape().back() == w.in(), "packed_linear: x is ",
          x.defined() ? x.shape().text() : "undefined", ", w is ", Shape{w.out(), w.in()},
          ": x must be float32, and its last axis w's second");
  require(!bias.defined() || (bias.shape() == Shape{w.out()} && bias.dtype() == DType::f32), "packed_linear: bias is ",
          bias.defined() ? bias.shape().text() : "undefined", "; float32 [", w.out(), "] is needed");
  Tensor y(x.shape().with(x.shape().rank() - 1, w.out()));
  kernels::gemm_packed({.m = as_rows(x.shape()).rows,
                        .n = w.out(),
                        .k = w.in(),
                        .a = x.data<float>(),
                        .packed = w.panels_.data<float>(),
                        .bias = bias.defined() ? bias.data<float>() : nullptr,
                        .activation = detail::kernel_activation(activation),
                        .c = y.data<float>()});
  return y;
}

}  // namespace addnorm
