# Which instruction sets the kernels are compiled for (x86; elsewhere Highway's own choice). Kernels and the tests that run
# every target must agree on it: both use ADDNORM_SIMD_DEFINITIONS.
#   all       baseline, SSE4, AVX2, AVX-512: for a library that goes elsewhere
#   runnable  those of them that this CPU can run: for tests that cannot run the others anyway
#   best      baseline and the best of this CPU: a third of the compile time
#   native    the best of this CPU alone: for a tool that is built where it runs; a sixth. Not for tests: they must see
#             the same targets as the kernels
set(ADDNORM_SIMD all CACHE STRING "Instruction sets to compile the kernels for: all, runnable, best or native")
set_property(CACHE ADDNORM_SIMD PROPERTY STRINGS all runnable best native)
if(NOT ADDNORM_SIMD MATCHES "^(all|runnable|best|native)$")
  message(FATAL_ERROR "ADDNORM_SIMD is '${ADDNORM_SIMD}'; known: all, runnable, best, native")
endif()
if(ADDNORM_SIMD STREQUAL native AND ADDNORM_BUILD_TESTS AND NOT ADDNORM_KERNELS_ONLY)
  message(FATAL_ERROR "ADDNORM_SIMD=native builds no tests; use best, or ADDNORM_BUILD_TESTS=OFF")
endif()

set(simd_flags "")
if(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo simd_flags REGEX "^flags" LIMIT_COUNT 1)
endif()
set(simd_off HWY_SSSE3 HWY_AVX3_DL)  # they add nothing to float arithmetic but build time
if(simd_flags MATCHES " avx512vl ")
  set(simd_best HWY_AVX3)
elseif(simd_flags MATCHES " avx2 ")
  set(simd_best HWY_AVX2)
else()
  set(simd_best "")  # unknown: keep everything
endif()
if(simd_best AND NOT ADDNORM_SIMD STREQUAL all AND NOT simd_best STREQUAL HWY_AVX3)
  list(APPEND simd_off HWY_AVX3)
endif()
if(simd_best AND ADDNORM_SIMD STREQUAL best)
  list(APPEND simd_off HWY_SSE4)
  if(simd_best STREQUAL HWY_AVX3)
    list(APPEND simd_off HWY_AVX2)
  endif()
endif()
list(JOIN simd_off "|" simd_off)
set(ADDNORM_SIMD_DEFINITIONS "HWY_DISABLED_TARGETS=(${simd_off})")
set(ADDNORM_SIMD_OPTIONS "")
if(ADDNORM_SIMD STREQUAL native)
  list(APPEND ADDNORM_SIMD_DEFINITIONS HWY_COMPILE_ONLY_STATIC)
  set(ADDNORM_SIMD_OPTIONS -march=native)
endif()
