// What people typed of a claim, as fields of its result: it may be mended without measuring again.
#pragma once

#include "addnorm/lab/claim.h"
#include "core/json.h"

namespace addnorm {

/// Sets claim, source, changed, start, earlier and see; what the claim no longer has goes. What was looked for and what came of
/// it stay as they were measured.
void add_typed_texts(Json& result, const Claim& claim);

}  // namespace addnorm
