// What probes record of one training step. docs/probes.md has every formula and the JSON form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace addnorm {

/// Of one stack with K units. Numbers by place on the stream have K + 1 values, the stack's input and the stream after each unit;
/// numbers by unit have K. NaN (null in JSON) where there is nothing to measure: attention in a feed-forward unit, a split where
/// there is no skip. An empty list was not recorded.
struct StackRecord {
  std::string name{};                ///< "stack", "encoder", "decoder"
  std::vector<std::string> units{};  ///< "layers.0.self", ...

  // By place.
  std::vector<double> stream_rms{};   ///< sqrt(mean of x^2) over all tokens and features
  std::vector<double> stream_mean{};  ///< mean of x
  std::vector<double> spread{};  ///< RMS of x without its mean over all tokens, over its RMS: what still differs between tokens
  double output_spread = 0;      ///< the same of what comes out of the stack
  std::vector<double> gradient_norm{};  ///< ||dL/dx||, of all tokens together

  // By unit.
  std::vector<double> branch_rms{};         ///< of the branch as it is added
  std::vector<double> update_ratio{};       ///< ||f|| / ||x||: the branch as added over the stream before
  std::vector<double> cosine{};             ///< mean over tokens of cos(x before, x after)
  std::vector<double> gradient_skip{};      ///< norm of the part of the gradient at the unit's input that came through the skip
  std::vector<double> gradient_branch{};    ///< and through the branch. The two parts add up to the whole, bit for bit
  std::vector<double> attention_entropy{};  ///< mean over heads and queries of H / ln(visible keys): 0 one key, 1 all alike
  std::vector<double> max_logit{};          ///< largest |score| before softmax
};

/// Of all parameters of one role.
struct RoleRecord {
  std::string role{};           ///< "q", "ffn_out", "norm_gain", ...
  double gradient_norm = 0;     ///< before clipping
  double update_to_weight = 0;  ///< ||change by this step|| / ||weights before||; NaN: they were all 0
};

struct ProbeRecord {
  std::int64_t step = 0;
  double loss = 0;
  std::vector<StackRecord> stacks{};
  std::vector<RoleRecord> roles{};
  double seconds = 0;  ///< that the probes took, of this step
};

/// One line of JSON, without its end.
std::string to_json(const ProbeRecord& record);

}  // namespace addnorm
