// Tensor: a shape and a shared, row-major, contiguous buffer of float32 (or float64, for gradient checks).
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>

#include "addnorm/core/error.h"
#include "addnorm/core/shape.h"

namespace addnorm {

/// A value that is neither, made by a cast, is a UsageError wherever one is taken.
enum class DType : unsigned char { f32, f64 };
const char* name_of(DType dtype);  ///< "float32", "float64"
std::size_t size_of(DType dtype);
std::ostream& operator<<(std::ostream& out, DType dtype);

namespace detail {
[[noreturn]] void refuse_dtype(DType dtype);
}

/// What a Tensor may hold.
template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, double>;
template <Element T>
inline constexpr DType dtype_of = std::same_as<T, float> ? DType::f32 : DType::f64;

class Buffer;  // memory of the arena; returns to it with the last Tensor that holds it

/// Copies share the buffer, as in every tensor library; clone() does not. Memory comes from the arena (arena.h) and is
/// not initialised unless the name says so. A default-made Tensor is undefined: it has no buffer, and stands for "none".
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const Shape& shape, DType dtype = DType::f32);
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32);
  static Tensor full(const Shape& shape, double value, DType dtype = DType::f32);
  static Tensor of(const Shape& shape, std::span<const float> values);
  static Tensor of(const Shape& shape, std::span<const double> values);
  static Tensor of(const Shape& shape, std::initializer_list<float> values);

  bool defined() const { return buffer_ != nullptr; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::size_t elements() const { return shape_.elements(); }

  /// The elements; T must match dtype().
  template <Element T>
  T* data() {
    return static_cast<T*>(checked_data(dtype_of<T>));
  }
  template <Element T>
  const T* data() const {
    return static_cast<const T*>(checked_data(dtype_of<T>));
  }
  template <Element T>
  std::span<const T> values() const {
    return {data<T>(), elements()};
  }
  template <Element T>
  std::span<T> values() {
    return {data<T>(), elements()};
  }
  double item() const;  ///< the only element

  Tensor reshape(const Shape& shape) const;  ///< the same buffer under another shape with as many elements
  Tensor clone() const;
  Tensor to(DType dtype) const;  ///< converted copy; the tensor itself when nothing changes

  /// True when no other Tensor shares the buffer, so it may be changed in place unseen.
  bool unique() const { return buffer_.use_count() == 1; }
  bool shares_with(const Tensor& other) const { return defined() && buffer_ == other.buffer_; }

 private:
  friend void leave_arena_scope(Tensor& tensor);
  void* checked_data(DType wanted) const;

  std::shared_ptr<Buffer> buffer_;
  Shape shape_;
  DType dtype_ = DType::f32;
};

/// f(T{}) with T the element type: dispatch(x.dtype(), [&](auto zero) { using T = decltype(zero); ... }).
template <class F>
decltype(auto) dispatch(DType dtype, F&& f) {
  if (dtype == DType::f32) return f(float{});
  if (dtype == DType::f64) return f(double{});
  detail::refuse_dtype(dtype);
}

}  // namespace addnorm
