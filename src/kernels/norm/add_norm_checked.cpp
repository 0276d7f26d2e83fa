// The public fused Add & Norm: checks every argument, then calls the unchecked kernel.
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <utility>

#include "addnorm/core/checked.h"
#include "addnorm/core/error.h"
#include "addnorm/core/shape.h"
#include "core/figures.h"
#include "kernels/norm/add_norm.h"

namespace addnorm {
namespace {

/// An array argument: its name for messages and the memory it covers.
struct Array {
  const char* name;
  const void* data;
  std::size_t bytes;
  std::size_t width;   // elements of a row
  std::size_t stride;  // 0 for vectors
};

/// As a double: the product may not fit in 64 bits.
Bytes bytes_of(std::size_t rows, std::size_t step, std::size_t element = sizeof(float)) {
  return {static_cast<double>(rows) * static_cast<double>(step) * static_cast<double>(element)};
}

[[noreturn]] void too_large(const char* function, const char* name, std::size_t rows, std::size_t step) {
  refuse(function, ": ", name, " with ", rows, " rows of stride ", step, ", ", bytes_of(rows, step), ", does not fit in memory");
}

/// [rows, width] with a stride, as bytes from the first to the last element.
Array matrix(const char* function, const char* name, const float* data, std::size_t rows, std::size_t width, std::size_t stride) {
  require(stride == 0 || stride >= width, function, ": ", name, "_stride is ", stride, ", rows have ", width,
          " elements; a stride is 0 (contiguous) or at least the width");
  const std::size_t step = stride == 0 ? width : stride;
  const auto all = checked_mul(rows, step);
  const auto bytes = all ? checked_mul(*all, sizeof(float)) : std::nullopt;
  if (!bytes) too_large(function, name, rows, step);
  const bool empty = rows == 0 || width == 0;
  return {name, data, empty ? 0 : *bytes - (step - width) * sizeof(float), width, step};
}

template <class T>
Array vector(const char* function, const char* name, const T* data, std::size_t count) {
  const auto bytes = data ? checked_mul(count, sizeof(T)) : std::size_t{0};
  require(bytes.has_value(), function, ": ", name, " with ", count, " elements, ", bytes_of(count, 1, sizeof(T)),
          ", does not fit in memory");
  return {name, data, *bytes, count, 0};
}

/// [rows, width] of everything here, for messages.
Shape shape_of(const char* function, std::size_t rows, std::size_t width) {
  require(checked_mul(rows, width).has_value(), function, ": ", rows, " rows of ", width, " elements, ", bytes_of(rows, width),
          " per array, do not fit in memory");
  return {rows, width};
}

bool overlap(const Array& a, const Array& b) {
  if (!a.data || !b.data || a.bytes == 0 || b.bytes == 0) return false;
  const auto pa = reinterpret_cast<std::uintptr_t>(a.data);
  const auto pb = reinterpret_cast<std::uintptr_t>(b.data);
  if (pa >= pb + b.bytes || pb >= pa + a.bytes) return false;
  if (a.stride == 0 || a.stride != b.stride) return true;
  // Columns of one wider matrix: rows are as far apart in both, so it is enough that they do not meet within one.
  const std::uintptr_t bytes_apart = (pa < pb ? pb - pa : pa - pb);
  const std::size_t apart = bytes_apart / sizeof(float) % a.stride;
  return bytes_apart % sizeof(float) != 0 || apart < a.width || a.stride - apart < a.width;
}

/// Outputs must not overlap each other; an output may be the very same matrix as an input, nothing in between.
void require_separate(const char* function, std::initializer_list<Array> inputs, std::initializer_list<Array> outputs) {
  for (const Array& out : outputs) {
    for (const Array& in : inputs) {
      const bool same = out.data == in.data && out.stride != 0 && out.stride == in.stride;
      require(same || !overlap(out, in), function, ": ", out.name, " overlaps ", in.name,
              "; an output may be the same array as an input of its shape, or share no memory with it");
    }
    for (const Array& other : outputs)
      require(&out == &other || !overlap(out, other), function, ": the outputs ", out.name, " and ", other.name,
              " overlap; give each its own memory, or leave the one that is not wanted null");
  }
}

void require_given(const char* function, const char* name, const void* data, const Shape& shape) {
  require(data != nullptr || shape.elements() == 0, function, ": ", name, " is null, ", shape, " is needed");
}

/// What forward and backward have in common: numbers in range, and nothing asked for that this norm does not have.
template <class Args>
void require_options(const char* function, kernels::NormKind kind, const Args& n) {
  const bool layer = kind == kernels::NormKind::layer;
  require(n.eps >= 0 && std::isfinite(n.eps), function, ": eps is ", n.eps, "; it must be finite and at least 0");
  require(n.dropout.p >= 0 && n.dropout.p < 1, function, ": dropout p is ", n.dropout.p, "; it must be in [0, 1)");
  require_one_of(function, "eps_place", n.eps_place, "EpsPlace", {"inside_root", "outside_root"});
  require_one_of(function, "stores", n.stores, "Stores", {"automatic", "regular", "streaming"});
  for (const auto& [name, factor] : {std::pair("a", &n.a), std::pair("b", &n.b)})
    require(factor->per_feature || std::isfinite(factor->scalar), function, ": the factor ", name, " is ", factor->scalar,
            "; it must be finite");
  require(!layer || n.eps_place == EpsPlace::inside_root, function,
          ": eps_place is outside_root, which only RMS norm has; layer norm takes eps inside the root");
  require(layer || n.mean == nullptr, function, ": RMS norm has no mean; leave mean null");
}

void check(const char* function, kernels::NormKind kind, const AddNorm& n) {
  const Shape shape = shape_of(function, n.rows, n.width);
  require_given(function, "x", n.x, shape);
  require(n.sum || n.y || shape.elements() == 0, function, ": both sum and y are null; give at least one output of ", shape);
  require_options(function, kind, n);
  require(n.f || n.dropout.p == 0, function, ": dropout acts on f, and f is null");
  require(n.f || n.b.is_one(), function, ": b is a factor on f, and f is null; leave b at 1");
  require_separate(
      function,
      {matrix(function, "x", n.x, n.rows, n.width, n.x_stride), matrix(function, "f", n.f, n.rows, n.width, n.f_stride),
       vector(function, "gamma", n.gamma, n.width), vector(function, "beta", n.beta, n.width),
       vector(function, "a", n.a.per_feature, n.width), vector(function, "b", n.b.per_feature, n.width)},
      {matrix(function, "sum", n.sum, n.rows, n.width, n.sum_stride), matrix(function, "y", n.y, n.rows, n.width, n.y_stride),
       vector(function, "mean", n.mean, n.rows), vector(function, "rstd", n.rstd, n.rows)});
}

void check(const char* function, kernels::NormKind kind, const AddNormGrad& n) {
  const Shape shape = shape_of(function, n.rows, n.width);
  require(n.dy || n.dsum || shape.elements() == 0, function, ": both dy and dsum are null; no gradient of ", shape, " arrives");
  if (n.dy) {
    require_given(function, "sum", n.sum, shape);
    require_given(function, "rstd", n.rstd, Shape{n.rows});
    if (kind == kernels::NormKind::layer) require_given(function, "mean", n.mean, Shape{n.rows});
  }
  require_options(function, kind, n);
  if (n.da) require_given(function, "x (da needs it)", n.x, shape);
  if (n.db) require_given(function, "f (db needs it)", n.f, shape);
  const bool alike = n.a.is_one() && n.b.is_one() && n.dropout.p == 0;
  require(n.df == nullptr || n.df != n.dx || alike, function,
          ": dx and df are one array, which is right only for a = b = 1 without dropout; give two");
  const std::size_t dx_stride = kernels::reference::stride_or(n.dx_stride, n.width);
  const std::size_t df_stride = kernels::reference::stride_or(n.df_stride, n.width);
  require(n.df == nullptr || n.df != n.dx || dx_stride == df_stride, function, ": dx and df are one array with two strides, ",
          dx_stride, " and ", df_stride);
  require(n.dx || n.df || n.dgamma || n.dbeta || n.da || n.db || shape.elements() == 0, function,
          ": dx, df, dgamma, dbeta, da and db are all null; there is nothing to compute");
  const std::size_t a_count = n.a.per_feature ? n.width : 1;
  const std::size_t b_count = n.b.per_feature ? n.width : 1;
  const float* separate_df = n.df == n.dx ? nullptr : n.df;
  require_separate(
      function,
      {matrix(function, "dy", n.dy, n.rows, n.width, n.dy_stride),
       matrix(function, "dsum", n.dsum, n.rows, n.width, n.dsum_stride),
       matrix(function, "sum", n.sum, n.rows, n.width, n.sum_stride), matrix(function, "x", n.x, n.rows, n.width, n.x_stride),
       matrix(function, "f", n.f, n.rows, n.width, n.f_stride), vector(function, "gamma", n.gamma, n.width),
       vector(function, "mean", n.mean, n.rows), vector(function, "rstd", n.rstd, n.rows),
       vector(function, "a", n.a.per_feature, n.width), vector(function, "b", n.b.per_feature, n.width)},
      {matrix(function, "dx", n.dx, n.rows, n.width, n.dx_stride),
       matrix(function, "df", separate_df, n.rows, n.width, n.df_stride), vector(function, "dgamma", n.dgamma, n.width),
       vector(function, "dbeta", n.dbeta, n.width), vector(function, "da", n.da, a_count),
       vector(function, "db", n.db, b_count)});
}

/// Scratch of the calling thread: grows to what the largest call needed and stays until the thread ends.
float* scratch_of_thread(std::size_t floats) {
  constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(float* p) const { ::operator delete(p, kLine); }
  };
  thread_local std::unique_ptr<float, Free> memory;
  thread_local std::size_t size = 0;
  if (floats > size) {
    memory.reset();
    size = 0;
    memory.reset(static_cast<float*>(::operator new(floats * sizeof(float), kLine)));
    size = floats;
  }
  return memory.get();  // NOLINT(clang-analyzer-cplusplus.NewDelete): it takes the end of the call for that of the thread
}

void run(const char* function, kernels::NormKind kind, const AddNorm& args) {
  check(function, kind, args);
  kernels::add_norm(kind, args);
}

void run(const char* function, kernels::NormKind kind, const AddNormGrad& args) {
  check(function, kind, args);
  kernels::add_norm_grad(kind, args, scratch_of_thread(kernels::add_norm_grad_scratch(args)));
}

}  // namespace

void add_layer_norm(const AddNorm& args) { run("add_layer_norm", kernels::NormKind::layer, args); }
void add_rms_norm(const AddNorm& args) { run("add_rms_norm", kernels::NormKind::rms, args); }
void add_layer_norm_grad(const AddNormGrad& args) { run("add_layer_norm_grad", kernels::NormKind::layer, args); }
void add_rms_norm_grad(const AddNormGrad& args) { run("add_rms_norm_grad", kernels::NormKind::rms, args); }

}  // namespace addnorm
