// Matrix products: C = alpha * op(A) * op(B), and what is done to C while it is still in cache.
//
//   gemm({.m = rows, .n = out, .k = in, .a = x, .b = w, .transpose_b = true, .bias = b, .c = y});   // y = x W^T + b
//   gemm({.m = rows, .n = in, .k = out, .a = dy, .b = w, .c = dx});                                 // dx = dy W
//   gemm({.m = out, .n = in, .k = rows, .a = dy, .transpose_a = true, .b = x, .c = dw});            // dw = dy^T x
//   gemm({..., .bias = b, .activation = Activation::gelu, .pre = h, .c = y});                       // h = x W^T + b, y = gelu(h)
//
// A weight stored [out, in] needs the forms A B^T, A B, A^T B for these three; stored [in, out] it needs A B, A B^T, A^T B:
// the same three forms, so the layout costs nothing and [out, in] is taken because checkpoints have it.
//
// Bits. C is cut into blocks and k into chunks whose sizes follow from m, n, k and which operand is transposed; each block is
// one single-threaded oneDNN call per chunk. So the result is the same for any number of threads. It may change with m (the
// number of rows in the call), with the leading dimensions and between machines with different instruction sets.
// Cost. B's panel is copied into a compact buffer of the thread (transposed if need be), and A's block when it is
// transposed: a leading dimension of 1024 floats costs next to nothing then, where oneDNN alone fell to 38 % of the FMA peak
// in A^T B. Scratch: about 1 MiB per thread that has ever computed a product, kept until the thread ends; oneDNN also
// allocates inside. Layers with d = 64, 256, 384 on AVX2: 76-92 % of the FMA peak on one thread, A^T B the slowest form.
// One row times B^T (decoding) reads B about as fast as a plain sum over it when B comes from memory; four rows, or a B that
// stays in the last cache, reach half to four fifths of that.
// Values. A NaN or infinity anywhere in a row of op(A) or a column of op(B) reaches that row or column of C, 0 * infinity
// included. k = 0: the product is 0. C may hold anything, NaN too, when it is overwritten.
#pragma once

#include "kernels/reference/gemm.h"

namespace addnorm::kernels {

using Gemm = GemmArgs<float>;

void gemm(const Gemm& args);
void gemm(const GemmArgs<double>& args);  ///< for gradient checks: plain loops on the calling thread

}  // namespace addnorm::kernels
