// One residual step of a post-norm Transformer, forward and backward, on plain arrays.
#include <cstdio>
#include <vector>

#include "addnorm/core/error.h"
#include "addnorm/kernels/add_norm.h"

int main() {
  constexpr std::size_t rows = 2, width = 4;
  const std::vector<float> x{1, 2, 3, 4, 5, 5, 5, 5};  // the stream
  const std::vector<float> f{0, 0, 0, 4, 1, 1, 1, 1};  // what the sub-layer adds to it
  const std::vector<float> gamma(width, 1), beta(width, 0.5f);
  std::vector<float> sum(rows * width), y(rows * width), rstd(rows);
  std::vector<double> mean(rows);

  addnorm::add_layer_norm({.rows = rows,
                           .width = width,
                           .x = x.data(),
                           .f = f.data(),
                           .gamma = gamma.data(),
                           .beta = beta.data(),
                           .sum = sum.data(),
                           .y = y.data(),
                           .mean = mean.data(),
                           .rstd = rstd.data()});
  for (std::size_t r = 0; r < rows; ++r)
    std::printf("row %zu: mean %g, y = %g %g %g %g\n", r, mean[r], static_cast<double>(y[4 * r]),
                static_cast<double>(y[4 * r + 1]), static_cast<double>(y[4 * r + 2]), static_cast<double>(y[4 * r + 3]));

  const std::vector<float> dy{1, 0, 0, 0, 0, 1, 0, 0};
  std::vector<float> dx(rows * width), dgamma(width), dbeta(width);
  addnorm::add_layer_norm_grad({.rows = rows,
                                .width = width,
                                .dy = dy.data(),
                                .sum = sum.data(),
                                .mean = mean.data(),
                                .rstd = rstd.data(),
                                .gamma = gamma.data(),
                                .dx = dx.data(),
                                .dgamma = dgamma.data(),
                                .dbeta = dbeta.data()});
  std::printf("dx of row 0 = %g %g %g %g\n", static_cast<double>(dx[0]), static_cast<double>(dx[1]), static_cast<double>(dx[2]),
              static_cast<double>(dx[3]));

  try {
    addnorm::add_layer_norm({.rows = rows, .width = width, .y = y.data()});  // no x
  } catch (const addnorm::UsageError& error) {
    std::printf("refused: %s\n", error.what());
  }
}
