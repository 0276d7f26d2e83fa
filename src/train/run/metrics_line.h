// What a line of metrics.jsonl says about itself.
#pragma once

#include <cstdint>
#include <string_view>

namespace addnorm {

/// A JSON object whose "step", if it has one, is at most `last_step`.
bool belongs(std::string_view line, std::int64_t last_step);

}  // namespace addnorm
