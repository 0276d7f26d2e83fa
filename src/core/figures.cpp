#include "core/figures.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace addnorm {

std::string fixed(double x, int places) { return fmt::format("{:.{}f}", x, places); }
std::string significant(double x, int digits) { return fmt::format("{:.{}g}", x, digits); }
std::string scientific(double x, int places) { return fmt::format("{:.{}e}", x, places); }

std::string short_figure(double x) { return significant(x, 2); }
std::string loss_figure(double x) { return fixed(x, 2); }

std::string figure_text(double x) {
  if (std::isnan(x)) return "nan";
  const double size = std::abs(x);
  return size >= 999.5 && size < 1e6 ? fixed(x, 0) : significant(x, 3);
}

std::string rate_figure(double x) {
  const std::string text = scientific(x, 2);  // 4.00e-04
  const std::size_t e = text.find('e');
  std::string digits = text.substr(0, e);
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return fmt::format("{}e{}", digits, std::stoi(text.substr(e + 1)));
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}
std::string counted(std::uint64_t number, const std::string& what) {
  return grouped(number).append(" ").append(what).append(number == 1 ? "" : "s");
}

std::string utc_text(std::time_t moment) {
  std::tm parts{};
  gmtime_r(&moment, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

// The clock that everything else here reads; std::time may have another, coarser one.
std::string utc_now() { return utc_text(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())); }

std::string utc_today() {
  const std::string now = utc_now();
  return now.substr(0, now.find('T'));
}

}  // namespace addnorm
