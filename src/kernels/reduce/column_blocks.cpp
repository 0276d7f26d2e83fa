#include "kernels/reduce/column_blocks.h"

#include "addnorm/core/parallel.h"

namespace addnorm::kernels {

void combine_column_blocks(const double* partial, std::size_t blocks, std::size_t stride, std::size_t width, double* total) {
  constexpr std::size_t kColumns = 512;
  parallel_ranges(width, kColumns, [=](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) total[j] = 0;
    for (std::size_t block = 0; block < blocks; ++block)
      for (std::size_t j = begin; j < end; ++j) total[j] += partial[block * stride + j];
  });
}

}  // namespace addnorm::kernels
