// Dataset: samples by number. Sample i is a function of (seed, i) and of nothing else, so a run that stops goes on exactly, and
// there is no state of a shuffle to lose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace addnorm {

/// A label that nothing is to be predicted for: CrossEntropyOptions::ignore_index.
inline constexpr std::int32_t kIgnoredLabel = -100;

/// Samples as models take them; which of the fields are used follows from the kind of model.
///
///   lm          ids [sequences, tokens], labels of the same shape: the next token
///   encoder     ids with some masked, labels of the same shape: the token where one was masked, else kIgnoredLabel
///   seq2seq     ids: source; target_ids [sequences, target tokens]: what the decoder reads, begin token first;
///               labels as target_ids
///   classifier  ids, labels [sequences]
///   mlp         features [sequences, width], labels [sequences]
struct Batch {
  std::uint64_t first = 0;    ///< number of the first sample
  std::size_t sequences = 0;  ///< samples
  std::vector<std::int32_t> ids{};
  std::vector<std::size_t> lengths{};  ///< of ids before padding; empty: no padding
  std::vector<std::int32_t> target_ids{};
  std::vector<std::size_t> target_lengths{};  ///< of target_ids; empty: no padding
  std::vector<float> features{};
  std::vector<std::int32_t> labels{};

  std::size_t counted() const;  ///< labels that are not ignored
  std::size_t tokens() const;   ///< that a model reads, source and target, without padding; 0: numbers
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  /// Samples first ... first + count - 1. Beyond the last sample of a finite set begins the next epoch, in another order.
  /// Threads may call it at the same time.
  virtual Batch batch(std::uint64_t first, std::size_t count) const = 0;
  virtual std::uint64_t size() const = 0;  ///< samples of an epoch; 0: endless
  /// Bytes of text per label on average, where labels are text: nats per token over this and ln 2 are bits per byte. 0: not
  /// known.
  virtual double bytes_per_label() const { return 0; }
};

/// Entropies in nats per label that a loss can be compared with; NaN: not known.
struct Baselines {
  double floor;    ///< exact mean conditional entropy: what a perfect model reaches
  double uniform;  ///< ln of the number of tokens that occur
  double unigram;
  double bigram;
};

/// Of labels as counted: uniform over those that occur, and unigram; floor and bigram are NaN. The samples of an epoch are
/// counted, or the first `most` of more or of an endless set. A UsageError where none of them has a label.
Baselines label_baselines(const Dataset& data, std::uint64_t most = std::uint64_t{1} << 14);

}  // namespace addnorm
