// Initialisation: a rule says from which distribution each part of each parameter is drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>

#include "addnorm/nn/module.h"

namespace addnorm {

/// Where values are drawn from.
struct Distribution {
  enum class Kind : unsigned char { constant, normal, uniform };
  Kind kind = Kind::constant;
  double size = 0;  ///< the constant; the standard deviation; half the range (-size, size)

  Distribution scaled(double gain) const { return {kind, size * gain}; }
  double deviation() const;  ///< standard deviation; 0 of a constant
};
std::ostream& operator<<(std::ostream& out, const Distribution& distribution);  ///< "N(0, 0.02^2)", "U(-0.1, 0.1)", "1"

Distribution constant(double value);
Distribution normal(double deviation);
Distribution uniform(double bound);  ///< U(-bound, bound)
/// Glorot and Bengio 2010, for a matrix [fan_out, fan_in]: variance 2 / (fan_in + fan_out), times gain^2.
Distribution xavier_uniform(std::size_t fan_in, std::size_t fan_out, double gain = 1);
Distribution xavier_normal(std::size_t fan_in, std::size_t fan_out, double gain = 1);

/// Nothing: the part keeps what its module started it with (gains 1, biases 0, coefficients what their arrangement says).
using InitRule = std::function<std::optional<Distribution>(const Parameter& parameter, const Part& part)>;

/// Draws the parameters anew. Element i of a parameter is a function of (seed, path, i): neither the order of modules nor a
/// change elsewhere in the model touches it.
void initialise(Module& module, const InitRule& rule, std::uint64_t seed);

/// Every matrix by xavier_uniform, embeddings by N(0, 1/width): fan_in is the last axis, fan_out the rows of the part.
std::optional<Distribution> xavier_rule(const Parameter& parameter, const Part& part);

}  // namespace addnorm
