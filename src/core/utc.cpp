#include "core/utc.h"

#include <chrono>

namespace addnorm {

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
