// Every claim: a line in list.inc, and a section in the file of its theme (texts/ or papers/), which defines its claim().
#pragma once

#include "addnorm/claims/claim.h"
#include "claims/texts.h"

namespace addnorm::lab {

#define CLAIM(name) \
  namespace name {  \
  Claim claim();    \
  }
#include "claims/list.inc"
#undef CLAIM

}  // namespace addnorm::lab
