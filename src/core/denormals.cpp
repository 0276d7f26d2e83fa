#include "addnorm/core/denormals.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace addnorm {

void flush_denormals() {
#ifdef __SSE2__
  constexpr unsigned kResults = 0x8000, kInputs = 0x0040;  // of MXCSR: flush to zero, denormals are zero
  _mm_setcsr(_mm_getcsr() | kResults | kInputs);
#endif
}

}  // namespace addnorm
