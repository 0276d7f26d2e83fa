// Moments in UTC, as records write them: "2026-11-17T12:40:00Z".
#pragma once

#include <ctime>
#include <string>

namespace addnorm {

/// Independent of the time zone of the machine.
std::string utc_text(std::time_t moment);
std::string utc_now();
/// The day alone: "2026-11-17".
std::string utc_today();

}  // namespace addnorm
