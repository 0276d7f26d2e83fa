#include "core/utc.h"

namespace addnorm {

std::string utc_text(std::time_t moment) {
  std::tm parts{};
  gmtime_r(&moment, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string utc_now() { return utc_text(std::time(nullptr)); }

std::string utc_today() {
  const std::string now = utc_now();
  return now.substr(0, now.find('T'));
}

}  // namespace addnorm
