// What probes record of one training step. docs/probes.md has every formula and the JSON form.
#pragma once

#include <cstdint>
#include <optional>
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
  /// ||dL/dx||, of all tokens together, L the record's loss. Infinite: it is not finite; NaN: not measured, as between the ends
  /// with recompute. JSON has null for both, but the first one is measured whenever any is.
  std::vector<double> gradient_norm{};

  // By unit.
  std::vector<double> branch_rms{};         ///< of the branch as it is added
  std::vector<double> update_ratio{};       ///< ||f|| / ||x||: the branch as added over the stream before
  std::vector<double> cosine{};             ///< mean over tokens of cos(x before, x after)
  std::vector<double> gradient_skip{};      ///< norm of the part of the gradient at the unit's input that came through the skip
  std::vector<double> gradient_branch{};    ///< and through the branch. The two parts add up to the whole, bit for bit
  std::vector<double> attention_entropy{};  ///< mean over heads and queries of H / ln(visible keys): 0 one key, 1 all alike
  std::vector<double> max_logit{};          ///< largest |score| before softmax

  // The full set: by extra passes, without dropout and with running statistics, before the update. By place:
  std::vector<double> max_over_median{};    ///< max|x| / median|x|
  std::vector<double> kurtosis{};           ///< mean over features of m4 / m2^2 over tokens: 3 for a normal distribution
  std::vector<double> token_similarity{};   ///< mean cosine of two different tokens
  std::vector<double> stable_rank{};        ///< ||X||_F^2 / ||X||_2^2, X tokens x features
  std::vector<double> effective_rank{};     ///< exp(entropy of singular values over their sum)
  std::vector<double> position_accuracy{};  ///< of a linear map to 8 blocks of the sequence, on other sequences; chance 1/8
  /// [place][component]: shares of the variance, of every row 1 together. Components: embedding, units, biases of norms. Only of
  /// arrangements that are rows, as are skip_share, skip_gain and logit_attribution.
  std::vector<std::vector<double>> dependency{};

  // By unit:
  std::vector<double> drift_mean{};       ///< change per step of the mean of what the sub-layer reads, in deviations
  std::vector<double> drift_deviation{};  ///< the same of its deviation. Both since the last record: none at the first
  std::vector<double> bypass_change{};    ///< loss with this branch at 0, less the loss
  std::vector<double> lens_loss{};        ///< loss if the stack ended after this unit
  std::vector<double> lens_kl{};          ///< KL of the final distribution from that one
  std::vector<double> skip_share{};       ///< ||a s|| / ||a s + f||
  /// By component: what it brings to the label's logit, over the mean of all logits. Of the last stack.
  std::vector<double> logit_attribution{};
  std::optional<double> skip_gain{};  ///< product of the skip shares
};

/// Of all parameters of one role.
struct RoleRecord {
  std::string role{};           ///< "q", "ffn_out", "norm_gain", ...
  double gradient_norm = 0;     ///< before clipping
  double update_to_weight = 0;  ///< ||change by this step|| / ||weights before||; NaN: they were all 0
  /// Full: ||E g||^2 / E||g - E g||^2, g the gradient of a batch as large as the first part of the step.
  std::optional<double> gradient_snr{};
};

struct ProbeRecord {
  std::int64_t step = 0;
  double loss = 0;
  std::vector<StackRecord> stacks{};
  std::vector<RoleRecord> roles{};
  double seconds = 0;  ///< that measuring took, of this step; not what the step itself loses where sums are not fused
  // Full.
  std::optional<double> probe_loss{};    ///< of the sequences that by-pass, lens and attribution are measured on, without dropout
  std::optional<double> model_change{};  ///< ||f(x; after) - f(x; before)|| / ||f(x; before)||: logits of the step's first part
};

/// One line of JSON, without its end.
std::string to_json(const ProbeRecord& record);

}  // namespace addnorm
