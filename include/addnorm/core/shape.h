// Shape: the sizes of a row-major array, last axis fastest.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

namespace addnorm {

/// Up to eight axes, stored in place. Shape{} is a scalar (rank 0, one element); an axis may be 0 (no elements).
/// The number of elements always fits: a product that overflows is refused when the shape is made.
class Shape {
 public:
  static constexpr std::size_t kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<std::size_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const std::size_t> sizes);

  std::size_t rank() const { return rank_; }
  std::size_t elements() const { return elements_; }
  /// An axis that is not there is a UsageError, as is the last one of a scalar.
  std::size_t operator[](std::size_t axis) const {
    if (axis >= rank_) [[unlikely]]
      no_such_axis(axis);
    return sizes_[axis];
  }
  std::size_t back() const { return (*this)[rank_ == 0 ? 0 : rank_ - 1]; }
  const std::size_t* begin() const { return sizes_.data(); }
  const std::size_t* end() const { return sizes_.data() + rank_; }

  /// The same shape with one axis of another size.
  Shape with(std::size_t axis, std::size_t size) const;
  std::string text() const;  ///< "[2048, 384]"

  friend bool operator==(const Shape& a, const Shape& b);

 private:
  [[noreturn]] void no_such_axis(std::size_t axis) const;

  std::array<std::size_t, kMaxRank> sizes_{};
  std::size_t rank_ = 0;
  std::size_t elements_ = 1;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);

/// A shape seen as a matrix: all axes but the last are rows. A scalar is one row of width 1.
struct Rows {
  std::size_t rows;
  std::size_t width;
};
Rows as_rows(const Shape& shape);

}  // namespace addnorm
