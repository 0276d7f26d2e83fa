// Every claim: one line here and one file each, sNN_what_it_says.cpp or cNN_..., which defines its claim().
#pragma once

#include "addnorm/lab/claim.h"

// In the order of the report: statements of the texts, then published claims.
#define ADDNORM_CLAIMS(CLAIM)                                                                                                  \
  CLAIM(s02)                                                                                                                   \
  CLAIM(s04) CLAIM(s05) CLAIM(s06) CLAIM(s08) CLAIM(s10) CLAIM(s11) CLAIM(s12) CLAIM(s13) CLAIM(s17) CLAIM(s18) CLAIM(s19)     \
      CLAIM(s20) CLAIM(s21) CLAIM(s22) CLAIM(s24) CLAIM(s25) CLAIM(s26) CLAIM(s27) CLAIM(s29) CLAIM(s30) CLAIM(s31) CLAIM(s33) \
          CLAIM(s34) CLAIM(s35) CLAIM(s36) CLAIM(s37) CLAIM(s39) CLAIM(s40) CLAIM(s41) CLAIM(s44) CLAIM(s48) CLAIM(s57)        \
              CLAIM(s63) CLAIM(s64) CLAIM(s65) CLAIM(s66) CLAIM(s67) CLAIM(s68) CLAIM(s70) CLAIM(s71) CLAIM(s72) CLAIM(s73)    \
                  CLAIM(s74)

namespace addnorm::lab {

#define ADDNORM_DECLARE(name) \
  namespace name {            \
  Claim claim();              \
  }
ADDNORM_CLAIMS(ADDNORM_DECLARE)
#undef ADDNORM_DECLARE

}  // namespace addnorm::lab
