#include "addnorm/nn/init.h"

#include <cmath>
#include <ostream>

#include "addnorm/core/parallel.h"
#include "addnorm/core/rng.h"

namespace addnorm {
namespace {

constexpr std::size_t kDrawsPerBlock = 2048;  // some fifty microseconds of normal numbers

double draw(const Distribution& from, RandomKey key, std::uint64_t index) {
  if (from.kind == Distribution::Kind::normal) return from.size * static_cast<double>(normal_at(key, index));
  if (from.kind == Distribution::Kind::uniform) return from.size * (2 * static_cast<double>(uniform_at(key, index)) - 1);
  return from.size;
}

/// Element i is a function of the key and i: the same bits on any number of threads.
void fill(Tensor& values, std::size_t begin, std::size_t end, const Distribution& from, RandomKey key) {
  require(from.kind <= Distribution::Kind::uniform, "initialise: Distribution::kind is ", static_cast<int>(from.kind),
          "; allowed are constant, normal and uniform");
  dispatch(values.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* data = values.data<T>() + begin;
    parallel_ranges(end - begin, kDrawsPerBlock, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) data[i] = static_cast<T>(draw(from, key, begin + i));
    });
  });
}

}  // namespace

double Distribution::deviation() const {
  switch (kind) {
    case Kind::normal:
      return size;
    case Kind::uniform:
      return size / std::sqrt(3.0);
    case Kind::constant:
      break;
  }
  return 0;
}

std::ostream& operator<<(std::ostream& out, const Distribution& d) {
  if (d.kind == Distribution::Kind::normal) return out << "N(0, " << d.size << "^2)";
  if (d.kind == Distribution::Kind::uniform) return out << "U(" << -d.size << ", " << d.size << ")";
  return out << d.size;
}

Distribution constant(double value) { return {Distribution::Kind::constant, value}; }
Distribution normal(double deviation) { return {Distribution::Kind::normal, deviation}; }
Distribution uniform(double bound) { return {Distribution::Kind::uniform, bound}; }
Distribution xavier_uniform(std::size_t fan_in, std::size_t fan_out, double gain) {
  return {Distribution::Kind::uniform, gain * std::sqrt(6.0 / static_cast<double>(fan_in + fan_out))};
}
Distribution xavier_normal(std::size_t fan_in, std::size_t fan_out, double gain) {
  return {Distribution::Kind::normal, gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out))};
}

std::optional<Distribution> xavier_rule(const Parameter& parameter, const Part& part) {
  if (!is_matrix(part.role)) return std::nullopt;
  const std::size_t fan_in = parameter.value.shape().back();
  if (part.role == Role::token_embedding || part.role == Role::position_embedding)
    return normal(1 / std::sqrt(static_cast<double>(fan_in)));
  return xavier_uniform(fan_in, part.rows);
}

void initialise(Module& module, const InitRule& rule, std::uint64_t seed) {
  for_each_parameter(module, [&](Parameter& parameter) {
    Tensor& values = parameter.value.value();
    const Shape& shape = values.shape();
    const std::size_t per_row = shape.rank() == 0 || shape[0] == 0 ? 1 : shape.elements() / shape[0];
    const RandomKey key = RandomKey(seed).with(parameter.path);
    for (const Part& part : parameter.parts)
      if (const std::optional<Distribution> from = rule(parameter, part))
        fill(values, part.first * per_row, (part.first + part.rows) * per_row, *from, key);
  });
}

}  // namespace addnorm
