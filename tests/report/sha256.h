// SHA-256 (FIPS 180-4) and base64, a second opinion of the hashes that the build computes (cmake/policy_hashes.cmake).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace addnorm {

std::array<std::uint8_t, 32> sha256(std::string_view text);

/// RFC 4648, with "=" at the end.
std::string base64(std::string_view bytes);

/// "sha256-" and the digest in base64: what a Content-Security-Policy wants.
std::string policy_hash(std::string_view text);

}  // namespace addnorm
