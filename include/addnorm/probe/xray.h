// X-ray: what the residual stream of a model carries, which of its units work, and which could go. docs/xray.md has every formula
// and the JSON form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/core/names.h"
#include "addnorm/data/dataset.h"
#include "addnorm/model/model.h"

namespace addnorm {

/// How norms count when an output is shared out among the parts of the stream.
///
///   frozen      every norm keeps the scale it has in the whole pass, and is linear: a part brings head(its share of the exit)
///   recompute   every norm is computed again: a unit brings head(exit of the stack that ends after it) less that of the one
///   before
///
/// Both add up to the output. Frozen needs an arrangement that is a row, and a head that is one matrix; `automatic` takes it
/// then.
enum class AttributionNorm : unsigned char { automatic, frozen, recompute };
const char* name_of(AttributionNorm ln);  ///< "automatic", "frozen", "recompute"

struct XrayOptions {
  AttributionNorm ln = AttributionNorm::automatic;
  /// A unit could go where its by-pass costs at most this share of the loss, or so large a cosine distance of the embedding.
  double expendable = 0.01;
  std::optional<Pooling> pooling{};           ///< of an encoder without a head; nothing: what its config says
  std::function<bool(double share)> go_on{};  ///< hears how much is done; false: stop
  FieldWords words{};                         ///< what messages call these fields
};

/// What costs are counted in.
enum class XrayMeasure : unsigned char {
  loss,         ///< nats per label
  masked_loss,  ///< the same of the tokens that an encoder with a head does not see
  embedding,    ///< an encoder without a head: 1 - cos(pooled output as it is, pooled output now), mean over sequences
};
const char* name_of(XrayMeasure measure);  ///< "loss", "masked loss", "embedding"

/// The element of the stream with the largest magnitude, at one place.
struct StreamPeak {
  double value = 0;
  double over_median = 0;  ///< |value| over the median magnitude of all elements (to 0.4 %); NaN where that is 0
  std::size_t feature = 0;
  std::size_t position = 0;  ///< in its sequence
  std::int32_t token = -1;   ///< id; -1: the model reads no tokens
  std::string text{};        ///< of the token; filled in by a caller that has the tokenizer
};

/// Units that each could go, and what by-passing all of them at once costs.
struct Expendable {
  std::vector<std::size_t> units{};
  double together = 0;  ///< change of the loss, or distance of the embedding; NaN without units
};

/// Of one stack with K units in L layers. By place: K + 1 values, the stack's input and the stream after each unit; by unit K;
/// by layer L. NaN where there is nothing to measure; an empty list was not measured, and XrayResult::missing says why.
struct StackXray {
  std::string name{};                ///< "stack", "encoder", "decoder"
  std::vector<std::string> units{};  ///< "layers.0.self", ...
  std::size_t layers = 0;

  // By place.
  std::vector<double> stream_rms{};  ///< sqrt(mean of x^2) over all tokens and features
  std::vector<StreamPeak> peaks{};
  std::vector<double> lens{};  ///< the loss (embedding: its distance) if the stack ended here, with its usual exit

  // By unit.
  std::vector<double> branch_rms{};    ///< of the branch as it is added
  std::vector<double> update_ratio{};  ///< ||f|| / ||x||, x the stream before
  std::vector<double> branch_share{};  ///< ||f||^2 / (||a s||^2 + ||f||^2), a s what the skip brings; rows only
  std::vector<double> cosine{};        ///< mean over tokens of cos(x before, x after)
  std::vector<double> attention_entropy{};
  std::vector<double> max_logit{};
  std::vector<double> bypass_change{};  ///< the loss with this branch at 0, less the loss (embedding: its distance)

  // By layer.
  std::vector<double> block_influence{};  ///< 1 - mean over tokens of cos(x before the layer, x after it): ShortGPT's

  /// By component: embedding, units, biases (of norms and of the head). Of the last stack.
  std::vector<double> attribution{};
  Expendable expendable{};
};

/// The gains of one norm, 1 + w where they are stored as w.
struct NormGains {
  std::string stack{};
  std::string name{};                 ///< "layers.3.ffn.in", "exit"
  std::string slot{};                 ///< "in", "out", "post", "entry", "exit", "q_norm", ...
  std::optional<std::size_t> unit{};  ///< whose it is
  double rms = 0, least = 0, most = 0;
  double bias_rms = 0;  ///< NaN without biases
};

struct XrayResult {
  ModelConfig config{};
  std::size_t parameters = 0;
  XrayMeasure measure = XrayMeasure::loss;
  std::size_t sequences = 0, tokens = 0, labels = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();  ///< NaN: measured by the embedding
  std::vector<StackXray> stacks{};
  std::vector<NormGains> norms{};

  AttributionNorm ln = AttributionNorm::automatic;  ///< which one it became; automatic: there is no attribution
  /// What the components share: mean over labels of (logit of the label - mean of all logits); of the embedding 1.
  double attributed = std::numeric_limits<double>::quiet_NaN();

  struct Missing {
    std::string what, why;
  };
  std::vector<Missing> missing{};
  bool stopped = false;  ///< by go_on, before all was measured
  double seconds = 0;

  // Filled in by the caller, not by xray().
  std::string model{};                  ///< name of the folder
  std::string formula{};                ///< of the arrangement
  std::string text{};                   ///< where the tokens come from
  std::vector<std::string> notes{};     ///< sentences about the model: what the config says and the weights do
  std::vector<std::string> warnings{};  ///< the same, where something is wrong
};

/// Looks into the model with these batches, each as the kind of model takes them (data/dataset.h); labels are not read where an
/// encoder has no head. Neither parameters nor gradients change. For a model of K units in one stack: K / 2 + 2 passes through
/// the stack and 2 K through the head, and a copy of the stream per unit in double. Large batches are taken in parts of at most
/// some hundred MiB. The same bits for any number of threads. A UsageError without batches, or without a label that counts.
XrayResult xray(Model& model, const std::vector<Batch>& batches, const XrayOptions& options = {});

/// Sentences that the numbers support, most important first; `warnings` before them, `notes` after.
std::vector<std::string> findings_of(const XrayResult& result);

/// One line of JSON, findings included.
std::string to_json(const XrayResult& result);

}  // namespace addnorm
