// What a verdict of a published claim may be.
#pragma once

namespace addnorm::test {

inline constexpr const char *kSeen = "seen at this scale", *kMixed = "mixed", *kNotSeen = "not seen";

}  // namespace addnorm::test
