// The tile of 4 x 24 on AVX2 in the machine's own words: the same operations in the same order as multiply_tile<4>, so the same
// bits.
//
// Where a neighbour shares the core, what a core can begin per cycle is halved, and every instruction beside the multiply-adds
// costs time. Compilers add 5 to 9 % of them (copies of registers, a pointer for each row); here 16 steps are 304 instructions
// and 9 more.
#if defined(ADDNORM_KERNELS_GEMM_PACKED_TILE_AVX2_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_KERNELS_GEMM_PACKED_TILE_AVX2_INL_H_
#undef ADDNORM_KERNELS_GEMM_PACKED_TILE_AVX2_INL_H_
#else
#define ADDNORM_KERNELS_GEMM_PACKED_TILE_AVX2_INL_H_
#endif

#include "kernels/gemm/packed_tile-inl.h"

#if HWY_TARGET == HWY_AVX2 && HWY_NATIVE_FMA && defined(__x86_64__) && defined(__LP64__)
HWY_BEFORE_NAMESPACE();
namespace addnorm::kernels::HWY_NAMESPACE {
namespace packed {

// Rows 0 to 3 have their sums in ymm0-2, 3-5, 6-8, 9-11. One step: 24 columns in ymm12-14, one element of A after the other in
// ymm15. Row 3 has a pointer of its own: addresses reach as far as a + 2 lda.
#define ADDNORM_ROW(element, s0, s1, s2) \
  "vbroadcastss " element                \
  ", %%ymm15\n"                          \
  "vfmadd231ps %%ymm12, %%ymm15, %%" s0  \
  "\n"                                   \
  "vfmadd231ps %%ymm13, %%ymm15, %%" s1  \
  "\n"                                   \
  "vfmadd231ps %%ymm14, %%ymm15, %%" s2 "\n"
#define ADDNORM_STEP(i)                                                                                                         \
  "vmovups 96*" i                                                                                                               \
  "(%[panel]), %%ymm12\n"                                                                                                       \
  "vmovups 96*" i                                                                                                               \
  "+32(%[panel]), %%ymm13\n"                                                                                                    \
  "vmovups 96*" i "+64(%[panel]), %%ymm14\n" ADDNORM_ROW("4*" i "(%[a])", "ymm0", "ymm1", "ymm2")                               \
      ADDNORM_ROW("4*" i "(%[a],%[lda])", "ymm3", "ymm4", "ymm5") ADDNORM_ROW("4*" i "(%[a],%[lda],2)", "ymm6", "ymm7", "ymm8") \
          ADDNORM_ROW("4*" i "(%[fourth])", "ymm9", "ymm10", "ymm11")
#define ADDNORM_ADD_ROW(at, s0, s1, s2) \
  "vaddps (" at "), %%" s0 ", %%" s0    \
  "\n"                                  \
  "vaddps 32(" at "), %%" s1 ", %%" s1  \
  "\n"                                  \
  "vaddps 64(" at "), %%" s2 ", %%" s2 "\n"
#define ADDNORM_STORE_ROW(at, s0, s1, s2) \
  "vmovups %%" s0 ", (" at                \
  ")\n"                                   \
  "vmovups %%" s1 ", 32(" at              \
  ")\n"                                   \
  "vmovups %%" s2 ", 64(" at ")\n"
#define ADDNORM_EACH_ROW(what)                                                                                                 \
  what("%[a]", "ymm0", "ymm1", "ymm2") what("%[a],%[panel]", "ymm3", "ymm4", "ymm5") what("%[fourth]", "ymm6", "ymm7", "ymm8") \
      what("%[fourth],%[panel]", "ymm9", "ymm10", "ymm11")

HWY_INLINE void multiply_tile_avx2(const PackedTile& t) {
  static_assert(kRows == 4 && kColumns == 24 && kUnrolled == 16);
  const float *a = t.a, *fourth = t.a + 3 * t.lda, *panel = t.panel, *next = t.next;
  size_t blocks = t.depth / kUnrolled, count;
  const size_t rest = t.depth % kUnrolled, more = t.at_once > 1 ? t.at_once - 1 : 0;  // one line is always asked for
  const size_t lda = t.lda * sizeof(float), ldc = t.ldc * sizeof(float), add = t.add ? 1 : 0;
  float* const c = t.c;
  asm volatile(
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11\n"
      "vxorps %%xmm\\i, %%xmm\\i, %%xmm\\i\n"
      ".endr\n"
      "test %[blocks], %[blocks]\n"
      "jz 4f\n"
      ".p2align 5\n"
      "1:\n"
      "prefetcht1 (%[next])\n"
      "add $64, %[next]\n"
      "cmpq $0, %[more]\n"
      "jne 3f\n"
      "2:\n"
      ".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"  //
      ADDNORM_STEP("\\i")
      ".endr\n"
      "add $64, %[a]\n"
      "add $64, %[fourth]\n"
      "add $16*96, %[panel]\n"
      "dec %[blocks]\n"
      "jnz 1b\n"
      "jmp 4f\n"

      "3:\n"  // more than one line: few rows share a panel
      "mov %[more], %[count]\n"
      "31:\n"
      "prefetcht1 (%[next])\n"
      "add $64, %[next]\n"
      "dec %[count]\n"
      "jnz 31b\n"
      "jmp 2b\n"

      "4:\n"  // steps that are left
      "mov %[rest], %[count]\n"
      "test %[count], %[count]\n"
      "jz 6f\n"
      "5:\n"  //
      ADDNORM_STEP("0")
      "add $4, %[a]\n"
      "add $4, %[fourth]\n"
      "add $96, %[panel]\n"
      "dec %[count]\n"
      "jnz 5b\n"

      "6:\n"  // from here on the registers hold: a = c, fourth = c + 2 ldc, panel = ldc
      "mov %[c], %[a]\n"
      "mov %[ldc], %[panel]\n"
      "lea (%[a],%[panel],2), %[fourth]\n"
      "cmpq $0, %[add]\n"
      "je 7f\n"  //
      ADDNORM_EACH_ROW(ADDNORM_ADD_ROW)
      "7:\n"  //
      ADDNORM_EACH_ROW(ADDNORM_STORE_ROW)
      "vzeroupper\n"
      : [a] "+&r"(a), [fourth] "+&r"(fourth), [panel] "+&r"(panel), [next] "+&r"(next), [blocks] "+&r"(blocks),
        [count] "=&r"(count)
      : [lda] "r"(lda), [more] "m"(more), [rest] "m"(rest), [c] "m"(c), [ldc] "m"(ldc), [add] "m"(add)
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
        "xmm14", "xmm15", "memory", "cc");
}

#undef ADDNORM_ROW
#undef ADDNORM_STEP
#undef ADDNORM_ADD_ROW
#undef ADDNORM_STORE_ROW
#undef ADDNORM_EACH_ROW

template <>
HWY_INLINE void multiply_tile<kRows>(PackedTile t) {
  multiply_tile_avx2(t);
}

}  // namespace packed
}  // namespace addnorm::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif
