#include "cli/terminal/figures.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace addnorm::cli {
namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace

std::string short_count(double number) {
  if (!std::isfinite(number)) return "-";
  static constexpr std::array<const char*, 5> kUnits{"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < kUnits.size(); ++unit) number /= 1000;
  if (unit == 0) return formatted("%.0f", number);
  return formatted(number < 9.995 ? "%.2f%s" : number < 99.95 ? "%.1f%s" : "%.0f%s", number, kUnits[unit]);
}

std::string fixed(double number, int decimals) { return formatted("%.*f", decimals, number); }
std::string figure(double number, int decimals) {
  if (std::isnan(number)) return "nan";
  return std::abs(number) < 1e4 ? fixed(number, decimals) : rate_text(number);
}
std::string rate_text(double rate) { return formatted("%.2e", rate); }

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  const auto all = static_cast<long long>(std::llround(seconds));
  if (all >= 3600) return formatted("%lld:%02lld:%02lld", all / 3600, all / 60 % 60, all % 60);
  return formatted("%lld:%02lld", all / 60, all % 60);
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
  if (mib >= 10240) return formatted("%.1f GiB", mib / 1024);
  return mib >= 10 ? formatted("%.0f MiB", mib) : formatted("%.1f MiB", mib);
}

}  // namespace addnorm::cli
