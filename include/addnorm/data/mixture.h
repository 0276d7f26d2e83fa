// Gaussian mixtures: points around centres, for models that read rows of numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "addnorm/data/dataset.h"

namespace addnorm {

struct MixtureOptions {
  std::size_t classes = 4;
  std::size_t dimension = 16;
  double spread = 1;  ///< of a point around its centre, in each direction
  std::uint64_t seed = 1;
};

/// Class c has a centre m_c with components N(0, 1), and x = m_c + spread * N(0, 1); all classes are as frequent.
class Mixture {
 public:
  explicit Mixture(const MixtureOptions& options = {});

  const std::vector<double>& centres() const { return centres_; }  ///< [classes, dimension]
  /// Endless; features [n, dimension], labels [n]. Datasets of one mixture with different seeds have the same centres.
  std::unique_ptr<Dataset> dataset(std::uint64_t seed) const;

  /// What the best classifier, the nearest centre, reaches on `samples` points of its own: an estimate, with its standard error.
  struct Best {
    double accuracy, accuracy_error;
    double loss, loss_error;  ///< nats: -ln p(class | x)
  };
  Best best(std::size_t samples = 20000) const;

 private:
  MixtureOptions options_;
  std::vector<double> centres_;
};

}  // namespace addnorm
