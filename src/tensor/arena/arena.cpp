#include "addnorm/tensor/arena.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "addnorm/core/error.h"
#include "core/figures.h"
#include "core/system/mutex.h"
#include "tensor/arena/pages.h"
#include "tensor/arena/scope.h"
#include "tensor/arena/size_class.h"

namespace addnorm {
namespace {

class Arena {
 public:
  void* take(std::size_t bytes, bool& is_zero);
  void give_back(void* memory, std::size_t bytes) noexcept;
  void trim();
  ArenaStats stats();

 private:
  // The list is kept outside the blocks, so a free block is never touched; it can always take one more without allocating.
  struct SizeClass {
    std::vector<char*> free;
    std::size_t blocks = 0;  // free or in use
  };

  char* carve(std::size_t index, std::size_t bytes, bool& is_zero);
  char* borrow(std::size_t index);
  void trim_locked();

  Mutex mutex_;
  std::array<SizeClass, kSizeClasses> classes_;
  std::unordered_map<char*, std::size_t> borrowed_;  // blocks that serve a smaller class for a while, and their own class
  ArenaPages pages_;
  std::size_t in_use_ = 0;
  std::size_t peak_ = 0;
  std::size_t carved_ = 0;
};

[[noreturn]] void throw_out_of_memory(std::size_t bytes, std::size_t in_use) {
  throw Error(with_scope(concat("out of memory: a tensor needs ", Bytes{static_cast<double>(bytes)},
                                ", and the system has no more; ", Bytes{static_cast<double>(in_use)},
                                " are in use by other tensors. A smaller batch, sequence or model needs less")));
}

void* Arena::take(std::size_t bytes, bool& is_zero) {
  const MutexLock lock(mutex_);
  if (bytes > kLargestRequest) throw_out_of_memory(bytes, in_use_);
  const std::size_t index = size_class_of(bytes);
  auto& free = classes_[index].free;
  char* memory = nullptr;
  is_zero = false;
  if (!free.empty()) {
    memory = free.back();
    free.pop_back();
  } else if (BorrowLargerBlocks::allowed()) {
    memory = borrow(index);
  }
  if (memory == nullptr) memory = carve(index, bytes, is_zero);
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
  unpoison(memory, bytes);
  return memory;
}

/// The smallest free block of a larger class, up to four times as large; null where there is none.
char* Arena::borrow(std::size_t index) {
  constexpr std::size_t kLeast = std::size_t{1} << 18;  // less is not worth recording
  if (size_of_class(index) < kLeast) return nullptr;
  const std::size_t end = std::min(kSizeClasses, index + 2 * kClassesPerDoubling + 1);
  for (std::size_t larger = index + 1; larger < end; ++larger) {
    auto& free = classes_[larger].free;
    if (free.empty()) continue;
    char* const memory = free.back();
    borrowed_.emplace(memory, larger);  // first: it may run out of memory
    free.pop_back();
    return memory;
  }
  return nullptr;
}

char* Arena::carve(std::size_t index, std::size_t bytes, bool& is_zero) {
  SizeClass& chosen = classes_[index];
  const std::size_t stride = stride_of_class(index);
  if (chosen.free.capacity() <= chosen.blocks) chosen.free.reserve(2 * chosen.blocks + 4);
  char* memory = pages_.carve(stride, is_zero);
  if (memory == nullptr) {
    trim_locked();
    memory = pages_.carve(stride, is_zero);
  }
  if (memory == nullptr) throw_out_of_memory(bytes, in_use_);
  ++chosen.blocks;
  carved_ += stride;
  return memory;
}

void Arena::give_back(void* memory, std::size_t bytes) noexcept {
  const MutexLock lock(mutex_);
  std::size_t index = size_class_of(bytes);
  if (const auto found = borrowed_.find(static_cast<char*>(memory)); found != borrowed_.end()) {
    index = found->second;
    borrowed_.erase(found);
  }
  poison(memory, stride_of_class(index));
  classes_[index].free.push_back(static_cast<char*>(memory));
  in_use_ -= bytes;
}

void Arena::trim() {
  const MutexLock lock(mutex_);
  trim_locked();
}

void Arena::trim_locked() {
  std::vector<PageSpan> spans;
  for (std::size_t index = 0; index < kSizeClasses; ++index)
    for (char* block : classes_[index].free) spans.push_back({block, block + stride_of_class(index)});
  pages_.give_back(std::move(spans));
  for (std::size_t index = 0; index < kSizeClasses; ++index) {
    SizeClass& emptied = classes_[index];
    emptied.blocks -= emptied.free.size();
    carved_ -= emptied.free.size() * stride_of_class(index);
    emptied.free.clear();
  }
}

ArenaStats Arena::stats() {
  const MutexLock lock(mutex_);
  return {.bytes_in_use = in_use_, .peak_bytes = peak_, .bytes_mapped = pages_.bytes_accessible(), .bytes_carved = carved_};
}

// Never destroyed: tensors in static variables may return their memory after any destructor of ours would have run.
Arena& arena() {
  static Arena& instance = *new Arena;
  return instance;
}

}  // namespace

void* arena_take(std::size_t bytes) {
  bool is_zero = false;
  return arena().take(bytes, is_zero);
}
void* arena_take_zeroed(std::size_t bytes) {
  bool is_zero = false;
  void* memory = arena().take(bytes, is_zero);
  if (!is_zero) std::memset(memory, 0, bytes);
  return memory;
}
void arena_give_back(void* memory, std::size_t bytes) noexcept { arena().give_back(memory, bytes); }
void arena_trim() { arena().trim(); }
ArenaStats arena_stats() { return arena().stats(); }

}  // namespace addnorm
