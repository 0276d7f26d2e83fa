// oneDNN's own layer normalisation, with its separate addition: a peer in the same process.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace addnorm::bench {

/// Forward: stored = x + added (when given), y = norm(stored or x). Backward: dx = norm's gradient, then dx + added.
/// Its primitives keep the number of threads of the moment they are made.
class OneDnnNorm {
 public:
  struct Slot {
    float* x;       ///< forward: x; backward: what was normed
    float* dy;      ///< backward only
    float* added;   ///< forward: f; backward: dsum; null: none
    float* stored;  ///< forward: where the sum goes
    float* out;     ///< y or dx
  };
  OneDnnNorm(std::size_t rows, std::size_t width, bool backward, float* gamma, float* beta, const std::vector<Slot>& slots);
  ~OneDnnNorm();
  void run(std::size_t slot);

 private:
  struct Primitives;
  std::unique_ptr<Primitives> p_;
};

std::string onednn_version();

}  // namespace addnorm::bench
