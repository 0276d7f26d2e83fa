#include "addnorm/nn/positions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "addnorm/core/names.h"

namespace addnorm {
namespace {

constexpr std::array kKinds{"none", "learned", "sinusoidal", "sinusoidal-halves", "rotary", "rotary-halves"};

struct PositionAlias {
  const char* alias;
  PositionKind kind;
};
constexpr std::array kAliases{PositionAlias{"absolute", PositionKind::learned},
                              PositionAlias{"rope", PositionKind::rotary},
                              PositionAlias{"rope-halves", PositionKind::rotary_halves},
                              PositionAlias{"neox", PositionKind::rotary_halves},
                              PositionAlias{"sincos", PositionKind::sinusoidal},
                              PositionAlias{"sine", PositionKind::sinusoidal},
                              PositionAlias{"nope", PositionKind::none}};

bool is_sinusoidal(PositionKind kind) { return kind == PositionKind::sinusoidal || kind == PositionKind::sinusoidal_halves; }

}  // namespace

std::span<const std::string> position_names() {
  static const std::vector<std::string> names(kKinds.begin(), kKinds.end());
  return names;
}
const char* name_of(PositionKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }
bool is_rotary(PositionKind kind) { return kind == PositionKind::rotary || kind == PositionKind::rotary_halves; }

PositionKind positions_named(std::string_view name) {
  const std::string wanted = folded(name);
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (folded(kKinds[i]) == wanted) return static_cast<PositionKind>(i);
  for (const PositionAlias& alias : kAliases)
    if (folded(alias.alias) == wanted) return alias.kind;
  throw UsageError(unknown_name("kind of positions", name, position_names()));
}

Tensor sinusoidal_table(std::size_t positions, std::size_t width, bool halves) {
  Tensor table = Tensor::zeros({positions, width});
  const std::size_t half = width / 2;
  const auto frequency = [&](std::size_t i) {
    const double exponent = halves ? static_cast<double>(i) / static_cast<double>(half > 1 ? half - 1 : 1)
                                   : static_cast<double>(2 * i) / static_cast<double>(width);
    return std::pow(10000.0, -exponent);
  };
  float* row = table.data<float>();
  for (std::size_t p = 0; p < positions; ++p, row += width)
    for (std::size_t i = 0; i < (halves ? half : (width + 1) / 2); ++i) {
      const double angle = static_cast<double>(p) * frequency(i);
      const std::size_t sine = halves ? i : 2 * i;
      const std::size_t cosine = halves ? half + i : 2 * i + 1;
      row[sine] = static_cast<float>(std::sin(angle));
      if (cosine < width) row[cosine] = static_cast<float>(std::cos(angle));
    }
  return table;
}

Positions::Positions(PositionKind kind, std::size_t max_positions, std::size_t width)
    : kind_(kind), max_positions_(max_positions) {
  if (kind != PositionKind::learned && !is_sinusoidal(kind)) return;
  require(max_positions > 0, "Positions: max_positions is 0; ", name_of(kind), " positions need a table");
  if (kind == PositionKind::learned)
    table_ = Var(Tensor::zeros({max_positions, width}), true);
  else
    table_ = Var(sinusoidal_table(max_positions, width, kind == PositionKind::sinusoidal_halves));
}

std::vector<std::int32_t> token_positions(std::size_t batch, std::size_t tokens, std::span<const std::size_t> joined,
                                          std::size_t first) {
  std::vector<std::int32_t> positions;
  positions.reserve(batch * tokens);
  const auto add_sequence = [&](std::size_t length) {
    for (std::size_t t = 0; t < length; ++t) positions.push_back(static_cast<std::int32_t>(first + t));
  };
  for (const std::size_t length : joined) add_sequence(length);
  for (std::size_t b = 0; joined.empty() && b < batch; ++b) add_sequence(tokens);
  return positions;
}

Var Positions::operator()(const Var& x, std::size_t first, std::span<const std::size_t> joined) const {
  if (!table_.defined()) return x;
  const std::size_t batch = x.shape()[0];
  const std::size_t tokens = joined.empty() ? x.shape()[1] : *std::max_element(joined.begin(), joined.end());
  require(first + tokens <= max_positions_, "Positions: tokens ", first, " ... ", first + tokens - 1,
          " of a sequence, but max_positions is ", max_positions_, "; cut the text, or make the model with more positions");
  const std::vector<std::int32_t> ids = token_positions(batch, x.shape()[1], joined, first);
  require(ids.size() == batch * x.shape()[1], "Positions: the joined sequences have ", ids.size(), " tokens, x is ", x.shape());
  const Var table = table_.dtype() == x.dtype() ? table_ : Var(table_.value().to(x.dtype()));
  return add(x, reshape(embedding(table, ids), x.shape()));
}

void Positions::visit(Visitor& visitor) {
  if (kind_ == PositionKind::learned) visitor.parameter("weight", table_, Role::position_embedding);
}

}  // namespace addnorm
