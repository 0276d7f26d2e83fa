// Under AddressSanitizer, memory that no tensor owns is marked: reading or writing it ends the program with a report.
#pragma once

#include <cstddef>

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

}  // namespace addnorm
