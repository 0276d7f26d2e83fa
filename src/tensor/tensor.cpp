#include "addnorm/tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <ostream>

#include "addnorm/core/checked.h"
#include "core/figures.h"
#include "tensor/arena/scope.h"

namespace addnorm {

void detail::refuse_dtype(DType dtype) {
  refuse("Tensor: DType ", static_cast<int>(dtype), " given; allowed are DType::f32 (0) and f64 (1)");
}
const char* name_of(DType dtype) {
  return dispatch(dtype, [](auto zero) { return sizeof(zero) == sizeof(float) ? "float32" : "float64"; });
}
std::size_t size_of(DType dtype) {
  return dispatch(dtype, [](auto zero) { return sizeof(zero); });
}
std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

class Buffer {
 public:
  enum class Holds : unsigned char { anything, zeros };
  Buffer(std::size_t bytes, Holds holds)
      : memory_(holds == Holds::zeros ? arena_take_zeroed(bytes) : arena_take(bytes)),
        bytes_(bytes),
        scope_(current_arena_scope()) {
    if (scope_) scope_->bytes_alive += bytes_;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (scope_) scope_->bytes_alive -= bytes_;
    arena_give_back(memory_, bytes_);
  }
  void* memory() const {
    require(!scope_ || !scope_->ended, "Tensor: read after the ArenaScope it was made in has ended; copy what must stay into a ",
            "tensor made before the scope, or make it under OutsideArenaScopes");
    return memory_;
  }
  void leave_scope() {
    if (scope_) scope_->bytes_alive -= bytes_;
    scope_ = nullptr;
  }

 private:
  void* memory_;
  std::size_t bytes_;
  std::shared_ptr<ArenaScope::Record> scope_;
};

namespace {

void require_elements(const char* where, bool defined) {
  require(defined, where,
          ": the tensor is undefined and has no elements. It was made by default or moved from, or is the grad() of a Var that ",
          "no backward has reached since it was made or clear_grad() was called (of a computed Var only after retain_grad())");
}

std::size_t bytes_of(const Shape& shape, DType dtype) {
  const auto bytes = checked_mul(shape.elements(), size_of(dtype));
  require(bytes.has_value(), "Tensor: ", shape, " of ", dtype, " needs ",
          Bytes{static_cast<double>(shape.elements()) * static_cast<double>(size_of(dtype))}, " and does not fit in memory");
  return *bytes;
}

template <class T>
Tensor copy_of(const Shape& shape, const T* values, std::size_t count) {
  require(count == shape.elements(), "Tensor: ", count, " values given for shape ", shape, ", which has ", shape.elements());
  Tensor out(shape, dtype_of<T>);
  std::copy_n(values, count, out.data<T>());
  return out;
}

}  // namespace

Tensor::Tensor(const Shape& shape, DType dtype) : shape_(shape), dtype_(dtype) {
  buffer_ = std::make_shared<Buffer>(bytes_of(shape, dtype), Buffer::Holds::anything);
}

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  Tensor out;
  out.shape_ = shape;
  out.dtype_ = dtype;
  out.buffer_ = std::make_shared<Buffer>(bytes_of(shape, dtype), Buffer::Holds::zeros);
  return out;
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype) {
  Tensor out(shape, dtype);
  dispatch(dtype, [&](auto zero) {
    using T = decltype(zero);
    std::ranges::fill(out.values<T>(), static_cast<T>(value));
  });
  return out;
}

Tensor Tensor::of(const Shape& shape, std::span<const float> values) { return copy_of(shape, values.data(), values.size()); }
Tensor Tensor::of(const Shape& shape, std::span<const double> values) { return copy_of(shape, values.data(), values.size()); }
Tensor Tensor::of(const Shape& shape, std::initializer_list<float> values) {
  return copy_of(shape, values.begin(), values.size());
}

void leave_arena_scope(Tensor& tensor) { tensor.buffer_->leave_scope(); }

double Tensor::item() const {
  require_elements("Tensor::item", defined());
  require(elements() == 1, "Tensor::item: needs exactly one element, the shape is ", shape_);
  return dispatch(dtype_, [&](auto zero) { return static_cast<double>(*data<decltype(zero)>()); });
}

Tensor Tensor::reshape(const Shape& shape) const {
  require_elements("Tensor::reshape", defined());
  require(shape.elements() == elements(), "Tensor::reshape: ", shape_, " has ", elements(), " elements, ", shape, " has ",
          shape.elements());
  Tensor out = *this;
  out.shape_ = shape;
  return out;
}

Tensor Tensor::clone() const {
  const void* from = checked_data(dtype_);
  Tensor out(shape_, dtype_);
  std::memcpy(out.buffer_->memory(), from, elements() * size_of(dtype_));
  return out;
}

Tensor Tensor::to(DType dtype) const {
  require_elements("Tensor::to", defined());
  if (dtype == dtype_) return *this;
  Tensor out(shape_, dtype);
  dispatch(dtype_, [&](auto from) {
    dispatch(dtype, [&](auto into) {
      std::ranges::transform(values<decltype(from)>(), out.data<decltype(into)>(),
                             [](auto v) { return static_cast<decltype(into)>(v); });
    });
  });
  return out;
}

void* Tensor::checked_data(DType wanted) const {
  require_elements("Tensor", defined());
  require(wanted == dtype_, "Tensor: read as ", wanted, ", but it holds ", dtype_, "; convert with to()");
  return buffer_->memory();
}

}  // namespace addnorm
