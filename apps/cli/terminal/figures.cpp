#include "cli/terminal/figures.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>

#include "addnorm/core/error.h"

namespace addnorm::cli {

std::string short_count(double number) {
  if (!std::isfinite(number)) return "-";
  static constexpr std::array<const char*, 5> kUnits{"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < kUnits.size(); ++unit) number /= 1000;
  return fixed(number, unit == 0 || number >= 99.95 ? 0 : number < 9.995 ? 2 : 1) + kUnits[unit];
}

std::string figure(double number, int decimals) {
  if (std::isnan(number)) return "nan";
  return std::abs(number) < 1e4 ? fixed(number, decimals) : rate_text(number);
}
std::string rate_text(double rate) { return scientific(rate, 2); }

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  const auto all = static_cast<long long>(std::llround(seconds));
  const auto two_digits = [](long long n) { return concat(n / 10, n % 10); };
  if (all >= 3600) return concat(all / 3600, ":", two_digits(all / 60 % 60), ":", two_digits(all % 60));
  return concat(all / 60, ":", two_digits(all % 60));
}

std::string for_shell(const std::string& path) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("/._-+=:,@%", c) != nullptr;
  };
  if (!path.empty() && std::ranges::all_of(path, plain)) return path;
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string mebibytes(double bytes) {
  const double mib = bytes / 1048576;
  return mib >= 10240 ? fixed(mib / 1024, 1) + " GiB" : fixed(mib, mib >= 10 ? 0 : 1) + " MiB";
}

}  // namespace addnorm::cli
