// A result that is there already, brought up to date without measuring: what people typed, and what its judge says.
#pragma once

#include "addnorm/claims/claim.h"
#include "core/json/json.h"

namespace addnorm {

/// Sets claim, source, changed, start, earlier and see; what the claim no longer has goes. What was looked for and what came of
/// it stay as they were measured.
void add_typed_texts(Json& result, const Claim& claim);

/// Sets verdict, measured (of every rule, and of all of them) and expected to what the claim's judge says of the numbers now.
/// Where these were kept as means and spreads alone it is asked about several numbers that have them; no, and nothing is changed,
/// where it does not answer all alike: then only measuring again can decide.
[[nodiscard]] bool judge_again(Json& result, const Claim& claim);

}  // namespace addnorm
