// Sizes in readable form: kernels name them too, and do without fmt.
#include <array>
#include <cmath>
#include <ostream>

#include "core/figures.h"

namespace addnorm {

std::ostream& operator<<(std::ostream& out, Bytes bytes) {
  constexpr std::array kUnits{"MiB", "GiB", "TiB", "PiB", "EiB"};
  double amount = bytes.count * 0x1p-20;
  if (bytes.count < 0x1p14) return out << static_cast<long>(bytes.count) << " bytes";
  if (amount < 1) return out << std::round(bytes.count * 0x1p-10) << " KiB";
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  const double tenths = std::round(amount * 10) / 10;
  return out << (amount < 100 ? tenths : std::round(amount)) << " " << kUnits[unit];
}

}  // namespace addnorm
