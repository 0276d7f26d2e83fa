#include "support/faults/failing_new.h"

#include <cstdlib>
#include <new>

namespace addnorm::test {
namespace {

thread_local bool armed = false, failed = false;
thread_local std::size_t left = 0;

void* allocate_or_null(std::size_t bytes) {
  if (armed && left-- == 0) {
    armed = false;
    failed = true;
    return nullptr;
  }
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocate(std::size_t bytes) {
  if (void* memory = allocate_or_null(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

FailingAllocation::FailingAllocation(std::size_t number) {
  failed = false;
  left = number;
  armed = true;
}
FailingAllocation::~FailingAllocation() { armed = false; }
bool FailingAllocation::happened() { return failed; }

}  // namespace addnorm::test

void* operator new(std::size_t bytes) { return addnorm::test::allocate(bytes); }
void* operator new[](std::size_t bytes) { return addnorm::test::allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return addnorm::test::allocate_or_null(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return addnorm::test::allocate_or_null(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
