// Memory of the C library, for systems without pages of their own: what is reserved is there at once, and stays until it is
// released.
#include <cstdlib>

#include "tensor/arena/system.h"

namespace addnorm::system_memory {

const bool kOpensZeros = false;

std::size_t wish() { return std::size_t{16} << 20; }
bool can_hold(std::size_t) { return true; }
char* reserve(std::size_t bytes) { return static_cast<char*>(std::malloc(bytes)); }
bool release(char* reserved, std::size_t) {
  std::free(reserved);
  return true;
}
bool open(char*, std::size_t) { return true; }
bool close(char*, std::size_t) { return false; }
void discard(char*, std::size_t) {}
std::size_t page() { return 4096; }

}  // namespace addnorm::system_memory
