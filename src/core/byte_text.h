// Sizes as people read them, for messages.
#pragma once

#include <string>

namespace addnorm {

/// "512 bytes", "1.5 GiB": from 1 MiB on in the largest unit of which there is at least one, with one decimal below 100.
/// A double, because what does not fit in memory may not fit in 64 bits either.
std::string byte_text(double bytes);

}  // namespace addnorm
