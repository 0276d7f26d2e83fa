// What the arena asks of the system. One source file for each kind; ADDNORM_PAGES chooses (cmake/platform.cmake).
#pragma once

#include <cstddef>

namespace addnorm::system_memory {

std::size_t wish();                               ///< bytes to reserve at a time, unless more are needed
bool can_hold(std::size_t bytes);                 ///< whether the machine has that much memory at all
char* reserve(std::size_t bytes);                 ///< address space, on any boundary; null when refused
bool release(char* reserved, std::size_t bytes);  ///< all that reserve() gave
bool open(char* begin, std::size_t bytes);        ///< makes it readable and writable
bool close(char* begin, std::size_t bytes);       ///< the opposite, contents lost; false where it stays as it is
void discard(char* begin, std::size_t bytes);     ///< contents not needed any more, still readable and writable
inline constexpr std::size_t kBoundary = std::size_t{2}
                                         << 20;  ///< begin of open() and close() lie on such, those of discard() on pages
std::size_t page();
extern const bool kOpensZeros;  ///< memory not written to since open() is zero

}  // namespace addnorm::system_memory
