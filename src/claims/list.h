// Every claim: one line in list.inc and one file, sNN_what_it_says.cpp or cNN_..., which defines its claim().
#pragma once

#include "addnorm/claims/claim.h"

namespace addnorm::lab {

#define CLAIM(name) \
  namespace name {  \
  Claim claim();    \
  }
#include "claims/papers/list.inc"
#undef CLAIM

}  // namespace addnorm::lab
