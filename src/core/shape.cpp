#include "addnorm/core/shape.h"

#include <algorithm>
#include <ostream>

#include "addnorm/core/checked.h"
#include "addnorm/core/error.h"

namespace addnorm {

Shape::Shape(std::span<const std::size_t> sizes) : rank_(sizes.size()) {
  require(rank_ <= kMaxRank, "shape: ", rank_, " axes given, at most ", kMaxRank, " are possible");
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  std::size_t product = 1;
  for (const std::size_t size : sizes) {
    // Overflow counts even when a later axis is 0: [2^64-1, 2, 0] overflows on the way there.
    const auto next = checked_mul(product, size);
    require(next.has_value(), "shape: the number of elements of ", *this, " does not fit in ", 8 * sizeof(size), " bits");
    product = *next;
  }
  elements_ = product;
}

Shape Shape::with(std::size_t axis, std::size_t size) const {
  if (axis >= rank_) no_such_axis(axis);
  auto sizes = sizes_;
  sizes[axis] = size;
  return Shape(std::span(sizes.data(), rank_));
}

void Shape::no_such_axis(std::size_t axis) const {
  refuse("shape: axis ", axis, " of ", *this, ", which has ", rank_, rank_ == 1 ? " axis" : " axes");
}

std::string Shape::text() const {
  std::string out = "[";
  for (std::size_t i = 0; i < rank_; ++i) out += (i ? ", " : "") + std::to_string(sizes_[i]);
  return out + "]";
}

bool operator==(const Shape& a, const Shape& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.text(); }

Rows as_rows(const Shape& shape) {
  if (shape.rank() == 0) return {1, 1};
  std::size_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.rank(); ++i) rows *= shape[i];
  return {rows, shape.back()};
}

}  // namespace addnorm
