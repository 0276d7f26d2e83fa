// Every claim: one line here and one file each, sNN_what_it_says.cpp or cNN_..., which defines its claim().
#pragma once

#include "addnorm/lab/claim.h"

// In the order of the report: statements of the texts, then published claims.
#define ADDNORM_CLAIMS(CLAIM) CLAIM(s12)

namespace addnorm::lab {

#define ADDNORM_DECLARE(name) \
  namespace name {            \
  Claim claim();              \
  }
ADDNORM_CLAIMS(ADDNORM_DECLARE)
#undef ADDNORM_DECLARE

}  // namespace addnorm::lab
