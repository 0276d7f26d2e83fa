// Sizes in readable form, for messages.
#pragma once

#include <iosfwd>

namespace addnorm {

/// Streams as "512 bytes", "358 KiB", "1.5 GiB": from 1 MiB on in the largest unit of which there is at least one, with one
/// decimal below 100. A double, because what does not fit in memory may not fit in 64 bits either. Not a string: the parts of a
/// message must cost nothing when no message is built.
struct Bytes {
  double count;
};
std::ostream& operator<<(std::ostream& out, Bytes bytes);

}  // namespace addnorm
