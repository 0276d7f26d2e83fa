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
// Bits. C is cut into blocks and k into chunks whose sizes follow from m, n, k alone; each block is one single-threaded
// oneDNN call per chunk. So the result is the same for any number of threads. It may change with m (the number of rows in
// the call), with the leading dimensions and between machines with different instruction sets.
// Cost. B's panel is copied into a compact buffer of the thread (transposed if need be), and A's block when it is
// transposed: leading dimensions of 256, 512, 1024... floats cost nothing then, where oneDNN alone falls to 40 % of the
// peak. Scratch: about 1 MiB per thread that has ever computed a product, kept until the thread ends; oneDNN also
// allocates inside. At the shapes of Transformer layers 85-95 % of the FMA peak. One to four rows times B^T (decoding)
// read B once at the speed of memory.
// Values. A NaN or infinity anywhere in a row of op(A) or a column of op(B) reaches that row or column of C, 0 * infinity
// included. k = 0: the product is 0. C may hold anything, NaN too, when it is overwritten.
#pragma once

#include "kernels/reference/gemm.h"

namespace addnorm::kernels {

using Gemm = GemmArgs<float>;

void gemm(const Gemm& args);
void gemm(const GemmArgs<double>& args);  ///< for gradient checks: plain loops on the calling thread

}  // namespace addnorm::kernels
