// Buffers between unreadable pages: a lane that reads or writes outside faults at once instead of passing by luck.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <vector>

namespace addnorm::test {

/// Which end of the buffer touches an unreadable page; the other end is up to a page away from one.
enum class Edge { start, end };
inline constexpr Edge kEdges[] = {Edge::start, Edge::end};

/// n elements of T, all zero. With Edge::end the address is aligned to T only, so unaligned access is exercised as well.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::size_t n, Edge edge = Edge::end) : n_(n) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (n * sizeof(T) + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    void* memory = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(memory);
    if (inner != 0 && mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    data_ = reinterpret_cast<T*>(base_ + page + (edge == Edge::end ? inner - n * sizeof(T) : 0));
  }
  explicit Guarded(const std::vector<T>& values, Edge edge = Edge::end) : Guarded(values.size(), edge) {
    if (!values.empty()) std::memcpy(data_, values.data(), n_ * sizeof(T));
  }
  ~Guarded() { munmap(base_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return n_; }
  operator std::span<const T>() const { return {data_, n_}; }
  std::vector<T> values() const { return {data_, data_ + n_}; }

 private:
  std::byte* base_ = nullptr;
  std::size_t mapped_ = 0;
  T* data_ = nullptr;
  std::size_t n_;
};

}  // namespace addnorm::test
