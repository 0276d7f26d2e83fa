#include "core/byte_text.h"

#include <array>
#include <cmath>

#include "addnorm/core/error.h"

namespace addnorm {

std::string byte_text(double bytes) {
  constexpr std::array kUnits{"MiB", "GiB", "TiB", "PiB", "EiB"};
  double amount = bytes * 0x1p-20;
  if (amount < 1) return concat(static_cast<long>(bytes), " bytes");
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  const double tenths = std::round(amount * 10) / 10;
  return concat(amount < 100 ? tenths : std::round(amount), " ", kUnits[unit]);
}

}  // namespace addnorm
