// Every claim: one line here and one file each, sNN_what_it_says.cpp or cNN_..., which defines its claim().
#pragma once

#include "addnorm/lab/claim.h"

// In the order of the report: statements of the texts, then published claims.
#define ADDNORM_CLAIMS(CLAIM)                                                                                                    \
  CLAIM(s01)                                                                                                                     \
  CLAIM(s02) CLAIM(s03) CLAIM(s04) CLAIM(s05) CLAIM(s06) CLAIM(s07) CLAIM(s08) CLAIM(s09) CLAIM(s10) CLAIM(s11) CLAIM(s12)       \
      CLAIM(s13) CLAIM(s14) CLAIM(s15) CLAIM(s16) CLAIM(s17) CLAIM(s18) CLAIM(s19) CLAIM(s20) CLAIM(s21) CLAIM(s22) CLAIM(s23)   \
          CLAIM(s24) CLAIM(s25) CLAIM(s26) CLAIM(s27) CLAIM(s28) CLAIM(s29) CLAIM(s30) CLAIM(s31) CLAIM(s32) CLAIM(s33)          \
              CLAIM(s34) CLAIM(s35) CLAIM(s36) CLAIM(s37) CLAIM(s38) CLAIM(s39) CLAIM(s40) CLAIM(s41) CLAIM(s42) CLAIM(s43)      \
                  CLAIM(s44) CLAIM(s45) CLAIM(s46) CLAIM(s47) CLAIM(s48) CLAIM(s49) CLAIM(s50) CLAIM(s51) CLAIM(s52) CLAIM(s53)  \
                      CLAIM(s54) CLAIM(s55) CLAIM(s56) CLAIM(s57) CLAIM(s58) CLAIM(s59) CLAIM(s60) CLAIM(s61) CLAIM(s62)         \
                          CLAIM(s63) CLAIM(s64) CLAIM(s65) CLAIM(s66) CLAIM(s67) CLAIM(s68) CLAIM(s69) CLAIM(s70) CLAIM(s71)     \
                              CLAIM(s72) CLAIM(s73) CLAIM(s74) CLAIM(c02) CLAIM(c03) CLAIM(c04) CLAIM(c05) CLAIM(c10) CLAIM(c11) \
                                  CLAIM(c15) CLAIM(c19) CLAIM(c22) CLAIM(c24) CLAIM(c25)

namespace addnorm::lab {

#define ADDNORM_DECLARE(name) \
  namespace name {            \
  Claim claim();              \
  }
ADDNORM_CLAIMS(ADDNORM_DECLARE)
#undef ADDNORM_DECLARE

}  // namespace addnorm::lab
