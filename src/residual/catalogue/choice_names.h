// Choices and their values by name: one list for messages, files and tables.
#pragma once

#include <string>
#include <vector>

#include "addnorm/residual/choices.h"

namespace addnorm {

/// io("skip_factor", c.skip_factor), and so on for every member.
template <class C, class Io>
void each_choice(C& c, Io&& io) {
  io("skip_factor", c.skip_factor);
  io("learned_skip", c.learned_skip);
  io("output_change", c.output_change);
  io("recursions", c.recursions);
  io("shared_norms", c.shared_norms);
  io("post_share", c.post_share);
  io("branch_start", c.branch_start);
  io("depth_power", c.depth_power);
  io("scale_ffn_skip", c.scale_ffn_skip);
  io("head_gain", c.head_gain);
  io("norm_place", c.norm_place);
  io("stream_share", c.stream_share);
  io("second_stream_scale", c.second_stream_scale);
}

// The values of enums, in their order.
inline const std::vector<std::string>& names(HeadGain) {
  static const std::vector<std::string> all{"none", "before_out", "after_out"};
  return all;
}
inline const std::vector<std::string>& names(NormPlace) {
  static const std::vector<std::string> all{"pre", "post"};
  return all;
}
inline const std::vector<std::string>& names(OutputChange) {
  static const std::vector<std::string> all{"log_n", "one", "n"};
  return all;
}

}  // namespace addnorm
