// Address space for the arena: reserved in large ranges, made accessible step by step, given back on request. Under
// AddressSanitizer, memory that no tensor owns is marked: reading or writing it ends the program with a report.
#pragma once

#include <cstddef>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define ADDNORM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDNORM_ASAN 1
#endif
#endif

#ifdef ADDNORM_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace addnorm {

inline void poison([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef ADDNORM_ASAN
  __asan_poison_memory_region(memory, bytes);
#endif
}

inline void unpoison([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef ADDNORM_ASAN
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

struct PageSpan {
  char* begin;
  char* end;
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

/// Not thread-safe: the arena holds its lock around every call.
class ArenaPages {
 public:
  /// `bytes` (a multiple of 64) of accessible memory, from a hole left by give_back() or from fresh pages; null when the
  /// system refuses. `is_zero`: it was never written to, and the system gives pages out as zeros.
  char* carve(std::size_t bytes, bool& is_zero);
  /// Takes spans that carve() gave out, in any order, and returns their pages to the system. Changes nothing when it throws.
  void give_back(std::vector<PageSpan> spans);

  std::size_t bytes_accessible() const;

 private:
  // [first, top) is carved or a hole, [top, accessible) is ready to be carved, [accessible, end) is only reserved. [unused, end)
  // was never written to.
  struct Range {
    char* mapping;  // what was reserved
    char* begin;    // the first 2 MiB boundary in it
    char* first;    // where the first block starts: not on that boundary, see stride_of_class
    char* top;
    char* unused;
    char* accessible;
    char* end;
    std::size_t room() const { return static_cast<std::size_t>(end - top); }
  };

  char* carve_hole(std::size_t bytes);
  char* carve_range(Range& range, std::size_t bytes, bool& is_zero);
  bool reserve(std::size_t bytes);
  bool try_reserve(std::size_t bytes);
  static bool unmap(const Range& range);
  void lower_top(Range& range);

  std::vector<Range> ranges_;
  std::vector<PageSpan> holes_;  // range after range; within one sorted by address and never adjacent
};

}  // namespace addnorm
