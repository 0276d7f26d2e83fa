// Cuts a product into blocks of C and hands each thread a run of them; multiply() multiplies a block.
#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "addnorm/core/parallel.h"
#include "kernels/gemm/multiply.h"
#include "kernels/gemm/parts.h"

namespace addnorm::kernels {
namespace {

using namespace ADDNORM_GEMM;  // onednn or own: cmake/platform.cmake

/// While it lives, products on this thread are computed by it alone.
class AloneOnThisThread {
 public:
  AloneOnThisThread() : held_(hold_to_one_thread()) {}
  ~AloneOnThisThread() { let_go(held_); }
  AloneOnThisThread(const AloneOnThisThread&) = delete;
  AloneOnThisThread& operator=(const AloneOnThisThread&) = delete;

 private:
  int held_;
};

/// Rows of a panel end with 16 unused floats, so that no leading dimension is a multiple of a large power of two.
constexpr std::size_t kPad = 16;
constexpr std::size_t kPanelB = kMaxDepth * (kMaxColumns + kPad);
constexpr std::size_t kPanelA = kMaxRows * (kMaxDepth + kPad);
constexpr std::size_t kProduct = kMaxRows * (kMaxColumns + kPad);
static_assert((kPanelB + kPanelA + kProduct) * sizeof(float) <= std::size_t{1} << 20, "as parts.h says");

/// The buffers of one thread, made when it first needs them. Null when the system has no memory left.
struct Scratch {
  float* panel_b() const { return memory.get(); }
  float* panel_a() const { return memory.get() + kPanelB; }
  float* product() const { return memory.get() + kPanelB + kPanelA; }

  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> memory{
      static_cast<float*>(std::aligned_alloc(64, (kPanelB + kPanelA + kProduct) * sizeof(float)))};
};
const Scratch& scratch_of_this_thread() {
  static thread_local const Scratch scratch;
  return scratch;
}

/// The part [rows, columns] of X at `from`, not transposed, in `panel`.
Operand packed(const Operand& from, std::size_t rows, std::size_t columns, float* panel) {
  const std::size_t ld = columns + kPad;
  if (from.transposed)
    transpose_panel(from.data, from.ld, columns, rows, panel, ld);
  else
    copy_panel(from.data, from.ld, rows, columns, panel, ld);
  return {panel, ld, false};
}

/// Whatever remains to be done to the block of C at (i, j) when its product is complete.
void finish(const Gemm& g, std::size_t i, std::size_t rows, std::size_t j, std::size_t columns, const float* product,
            std::size_t ldp, bool add) {
  if (!add && g.bias == nullptr && !g.activation && g.pre == nullptr) return;
  gemm_epilogue({.rows = rows,
                 .columns = columns,
                 .product = product,
                 .ldp = ldp,
                 .add = add,
                 .bias = g.bias == nullptr ? nullptr : g.bias + j,
                 .activation = g.activation,
                 .pre = g.pre == nullptr ? nullptr : g.pre + i * g.ldpre + j,
                 .ldpre = g.ldpre,
                 .c = g.c + i * g.ldc + j,
                 .ldc = g.ldc});
}

/// Blocks that lie below each other in C, computed by one thread.
class ColumnOfBlocks {
 public:
  ColumnOfBlocks(const Gemm& g, const GemmBlocks& blocks, std::size_t column)
      : g_(g), blocks_(blocks), j_(column * blocks.columns), n_(std::min(blocks.columns, g.n - j_)) {}

  /// Row blocks [first, last).
  void compute(std::size_t first, std::size_t last) const {
    const Scratch& scratch = scratch_of_this_thread();
    if (scratch.memory == nullptr || g_.k == 0) return plainly(first, last);
    // The buffer for products that are added holds one block: it must be finished before the next one starts.
    const std::size_t at_once = g_.update == Update::add && g_.k > blocks_.depth ? 1 : last - first;
    for (; first < last; first += at_once) sweep(first, first + at_once, scratch);
  }

 private:
  std::size_t row(std::size_t block) const { return block * blocks_.rows; }
  std::size_t rows(std::size_t block) const { return std::min(blocks_.rows, g_.m - row(block)); }

  /// k is the outer loop: a panel of B, once copied, serves all row blocks.
  void sweep(std::size_t first, std::size_t last, const Scratch& scratch) const {
    const Operand b{g_.b, g_.ldb, g_.transpose_b};
    for (std::size_t p = 0; p < g_.k; p += blocks_.depth) {
      const std::size_t depth = std::min(blocks_.depth, g_.k - p);
      const Operand panel = blocks_.packed ? packed(b.at(p, j_), depth, n_, scratch.panel_b()) : b.at(p, j_);
      for (std::size_t block = first; block < last; ++block) one_block(block, p, depth, panel, scratch);
    }
  }

  void one_block(std::size_t block, std::size_t p, std::size_t depth, const Operand& panel, const Scratch& scratch) const {
    Operand a = Operand{g_.a, g_.lda, g_.transpose_a}.at(row(block), p);
    if (blocks_.packed && a.transposed && transpose_pays()) a = packed(a, rows(block), depth, scratch.panel_a());

    float* c = g_.c + row(block) * g_.ldc + j_;
    const bool apart = g_.update == Update::add;
    float* product = apart ? scratch.product() : c;
    const std::size_t ldp = apart ? n_ + kPad : g_.ldc;
    multiply(a, panel, rows(block), n_, depth, g_.alpha, p > 0 || g_.update == Update::accumulate, product, ldp);

    if (p + depth == g_.k) finish(g_, row(block), rows(block), j_, n_, product, ldp, apart);
  }

  /// The copy of A^T is read n_ times. With 64 columns oneDNN was faster on A^T as it is (leading dimensions up to 256); for
  /// multiples of 512 we copy there too, expecting the conflicts in cache that cost 60 % with more columns.
  bool transpose_pays() const { return n_ >= 128 || g_.lda % 512 == 0; }

  void plainly(std::size_t first, std::size_t last) const {
    const std::size_t i = row(first);
    Gemm part = g_;
    part.m = std::min(row(last), g_.m) - i;
    part.n = n_;
    part.a = Operand{g_.a, g_.lda, g_.transpose_a}.at(i, 0).data;
    part.b = Operand{g_.b, g_.ldb, g_.transpose_b}.at(0, j_).data;
    part.c = g_.c + i * g_.ldc + j_;
    if (g_.bias != nullptr) part.bias = g_.bias + j_;
    if (g_.pre != nullptr) part.pre = g_.pre + i * g_.ldpre + j_;
    reference::gemm(part);
  }

  const Gemm& g_;
  const GemmBlocks& blocks_;
  std::size_t j_, n_;
};

/// Every thread takes a run of consecutive blocks, rows fastest. Which thread computes a block does not change its bits.
void gemm_by_blocks(const Gemm& g) {
  const GemmBlocks blocks = gemm_blocks(g.m, g.n, g.k, g.transpose_a);
  const std::size_t down = parts_of(g.m, blocks.rows);
  const std::size_t total = down * parts_of(g.n, blocks.columns);
  const double multiplications = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  const std::size_t runs = std::min(total, threads_worth(multiplications));
  parallel_blocks(runs, [&](std::size_t run) {
    const AloneOnThisThread alone;
    const std::size_t end = total * (run + 1) / runs;
    for (std::size_t block = total * run / runs; block < end;) {
      const std::size_t column = block / down;
      const std::size_t stop = std::min(end, (column + 1) * down);
      ColumnOfBlocks(g, blocks, column).compute(block - column * down, stop - column * down);
      block = stop;
    }
  });
}

/// Blocks of about 64 KiB of B, so that a thread's share is worth its wake-up.
void gemm_few_rows(const Gemm& g) {
  const std::size_t columns = std::max<std::size_t>(4, 16384 / std::max<std::size_t>(1, g.k) / 4 * 4);
  parallel_ranges(g.n, columns, [&](std::size_t begin, std::size_t end) {
    float* c = g.c + begin;
    few_rows_block(g.a, g.lda, g.b + begin * g.ldb, g.ldb, g.m, end - begin, g.k, g.alpha, g.update != Update::overwrite, c,
                   g.ldc);
    finish(g, 0, g.m, begin, end - begin, c, g.ldc, false);
  });
}

}  // namespace

void gemm(const Gemm& args) {
  const Gemm g = with_leading_dimensions(args);
  if (g.m == 0 || g.n == 0) return;
  if (g.m <= kFewRows && g.transpose_b && !g.transpose_a)
    gemm_few_rows(g);
  else
    gemm_by_blocks(g);
}

void gemm(const GemmArgs<double>& args) { reference::gemm(args); }

}  // namespace addnorm::kernels
