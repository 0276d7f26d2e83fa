// Adafactor: the second moment of a matrix is kept as its means over rows and over columns.
#include <algorithm>
#include <cmath>

#include "kernels/optimizer/updates.h"
#include "kernels/reduce/reduce.h"
#include "train/optimizer/optimizer_info.h"

namespace addnorm {
namespace {

using kernels::AdafactorSettings;
using kernels::reference::AdafactorFactors;

/// A parameter as matrices [count, rows, width]; one of fewer than two axes is one row, and not factored.
struct Matrices {
  std::size_t count = 1, rows = 1, width = 1;
  bool factored = false;

  explicit Matrices(const Shape& shape) : width(shape.elements()) {
    if (shape.rank() < 2) return;
    factored = true;
    width = shape.back();
    rows = shape[shape.rank() - 2];
    count = rows * width == 0 ? 0 : shape.elements() / (rows * width);
  }
  std::size_t elements() const { return count * rows * width; }
};

/// Rows of one matrix, or a range of a vector, with what the passes over it find.
struct RowPiece {
  std::size_t parameter;
  const float* g;
  float* p;
  float* column;  // of the factored moment, or the moment of a vector
  float* row;     // R over its mean; null for a vector
  double *row_sums, *column_sums;
  std::size_t rows, width;
  double p_squares = 0, u_squares = 0;
};

class Adafactor final : public OptimizerBase {
 public:
  Adafactor(Module& module, const OptimizerOptions& options) : OptimizerBase(module, options) {
    std::size_t sums = 0, rows = 0;
    for (TrainedParameter& p : parameters()) {
      const Shape& shape = p.value->shape();
      const Matrices& m = matrices_.emplace_back(shape);
      if (m.factored) {
        const std::size_t last = shape.rank() - 1;
        add_state(p, "row", shape.with(last, 1));
        add_state(p, "column", shape.with(last - 1, 1));
        sums += m.count * (m.rows + pieces_of(m) * m.width);
        rows += m.count * m.rows;
      } else {
        add_state(p, "v", shape);
      }
    }
    if (in_double()) return;
    sums_.resize(sums);
    ratios_.resize(rows);
    step_size_.resize(matrices_.size());
  }

 private:
  static std::size_t rows_of_piece(const Matrices& m) { return std::max(kernels::kBlockRows, rows_per_block(m.width, kPiece)); }
  static std::size_t pieces_of(const Matrices& m) { return (m.rows + rows_of_piece(m) - 1) / rows_of_piece(m); }

  /// The reference loops, which need none of the arrays below.
  bool in_double() { return !parameters().empty() && parameters().front().value->dtype() == DType::f64; }

  AdafactorSettings settings(std::size_t group, double lr, double gradient_scale) const {
    return {.lr = lr,
            .weight_decay = weight_decay(group),
            .beta2_power = options().beta2_power,
            .eps1 = options().eps1,
            .eps2 = options().eps2,
            .update_clip = options().update_clip,
            .step = steps(),
            .gradient_scale = gradient_scale};
  }

  void update(double lr, double gradient_scale) noexcept override {
    if (parameters().empty()) return;
    if (in_double()) return update_in_double(lr, gradient_scale);
    const AdafactorFactors f(settings(0, lr, gradient_scale));
    blocks_.run([&](std::span<RowPiece> pieces) {
      for (RowPiece& piece : pieces) look_at(piece, f.gain, gradient_scale);
    });
    parallel_tasks(first_piece_.size(), [&](std::size_t k, std::size_t) { follow(k, f.gain, gradient_scale * gradient_scale); });
    const double least = options().eps1 * options().eps1;
    blocks_.run([&](std::span<RowPiece> pieces) {
      for (RowPiece& x : pieces) x.u_squares = kernels::update_squares(x.g, x.row, x.column, least, x.rows, x.width);
    });
    step_sizes(f, gradient_scale);
    blocks_.run([&](std::span<RowPiece> pieces) {
      for (RowPiece& x : pieces)
        kernels::adafactor_update(x.g, x.row, x.column, least, lr * weight_decay(parameters()[x.parameter].group),
                                  step_size_[x.parameter] * gradient_scale, x.rows, x.width, x.p);
    });
  }

  void update_in_double(double lr, double gradient_scale) {
    for (std::size_t k = 0; k < matrices_.size(); ++k) {
      TrainedParameter& p = parameters()[k];
      const Matrices& m = matrices_[k];
      if (!p.has_gradient() || m.elements() == 0) continue;
      const AdafactorSettings s = settings(p.group, lr, gradient_scale);
      const double* g = p.value->grad().data<double>();
      double* value = p.value->value().data<double>();
      double* first = p.state[0].value.data<double>();
      if (m.factored)
        kernels::reference::adafactor(g, s, m.count, m.rows, m.width, value, first, p.state[1].value.data<double>());
      else
        kernels::reference::adafactor(g, s, m.width, value, first);
    }
  }

  /// Pieces of all parameters that have a gradient, with their places in the scratch arrays.
  void gather() override {
    if (in_double()) return;
    blocks_.clear();
    first_piece_.clear();
    sums_used_ = ratios_used_ = 0;
    for (std::size_t k = 0; k < matrices_.size(); ++k) {
      if (!parameters()[k].has_gradient() || matrices_[k].elements() == 0) continue;
      first_piece_.push_back(blocks_.pieces().size());
      if (matrices_[k].factored)
        gather_matrices(k);
      else
        gather_vector(k);
    }
    blocks_.finish();
  }
  void gather_vector(std::size_t k) {
    TrainedParameter& p = parameters()[k];
    const float* g = p.value->grad().data<float>();
    float *value = p.value->value().data<float>(), *v = p.state[0].value.data<float>();
    for (std::size_t i = 0; i < matrices_[k].width; i += kPiece) {
      const std::size_t n = std::min(kPiece, matrices_[k].width - i);
      blocks_.add({k, g + i, value + i, v + i, nullptr, nullptr, nullptr, 1, n}, n);
    }
  }
  void gather_matrices(std::size_t k) {
    TrainedParameter& p = parameters()[k];
    const Matrices& m = matrices_[k];
    const float* g = p.value->grad().data<float>();
    float *value = p.value->value().data<float>(), *column = p.state[1].value.data<float>();
    for (std::size_t matrix = 0; matrix < m.count; ++matrix, column += m.width) {
      for (std::size_t r = 0; r < m.rows; r += rows_of_piece(m)) {
        const std::size_t rows = std::min(rows_of_piece(m), m.rows - r);
        double* row_sums = sums_.data() + sums_used_;
        blocks_.add({k, g, value, column, ratios_.data() + ratios_used_, row_sums, row_sums + rows, rows, m.width},
                    rows * m.width);
        sums_used_ += rows + m.width;
        ratios_used_ += rows;
        g += rows * m.width;
        value += rows * m.width;
      }
    }
  }

  /// First pass: sums of squares, and the moment of vectors.
  static void look_at(RowPiece& piece, double gain, double gradient_scale) {
    const std::size_t n = piece.rows * piece.width;
    piece.p_squares = kernels::squares(piece.p, n);
    if (piece.row == nullptr)
      kernels::follow_squares(piece.g, gain, gradient_scale, n, piece.column);
    else
      kernels::square_sums(piece.g, piece.rows, piece.width, piece.row_sums, piece.column_sums);
  }

  static void move_towards(float& moment, double mean, double gain) {
    moment = static_cast<float>(static_cast<double>(moment) + gain * (mean - static_cast<double>(moment)));
  }

  /// R and C of parameter number `k` among those with a gradient, and R over its mean.
  void follow(std::size_t k, double gain, double scale) {
    const std::span<RowPiece> pieces = blocks_.pieces();
    const std::size_t parameter = pieces[first_piece_[k]].parameter;
    const Matrices& m = matrices_[parameter];
    if (!m.factored) return;
    float* row = parameters()[parameter].state[0].value.data<float>();
    for (std::size_t matrix = 0; matrix < m.count; ++matrix, row += m.rows)
      follow(pieces.subspan(first_piece_[k] + matrix * pieces_of(m), pieces_of(m)), m, gain, scale, row);
  }
  void follow(std::span<RowPiece> pieces, const Matrices& m, double gain, double scale, float* row) {
    float* const column = pieces.front().column;
    double sum = 0;
    std::size_t at = 0;
    for (const RowPiece& piece : pieces)
      for (std::size_t r = 0; r < piece.rows; ++r, ++at) {
        move_towards(row[at], scale * piece.row_sums[r] / static_cast<double>(m.width), gain);
        sum += static_cast<double>(row[at]);
      }
    const double mean = std::max(sum / static_cast<double>(m.rows), options().eps1);
    for (std::size_t r = 0; r < m.rows; ++r) pieces.front().row[r] = static_cast<float>(static_cast<double>(row[r]) / mean);
    for (std::size_t c = 0; c < m.width; ++c) {
      double total = 0;
      for (const RowPiece& piece : pieces) total += piece.column_sums[c];
      move_towards(column[c], scale * total / static_cast<double>(m.rows), gain);
    }
  }

  void step_sizes(const AdafactorFactors& f, double gradient_scale) {
    const std::span<RowPiece> pieces = blocks_.pieces();
    for (std::size_t k = 0; k < first_piece_.size(); ++k) {
      const std::size_t end = k + 1 < first_piece_.size() ? first_piece_[k + 1] : pieces.size();
      double p_squares = 0, u_squares = 0;
      for (const RowPiece& piece : pieces.subspan(first_piece_[k], end - first_piece_[k])) {
        p_squares += piece.p_squares;
        u_squares += piece.u_squares;
      }
      const std::size_t parameter = pieces[first_piece_[k]].parameter;
      const auto n = static_cast<double>(matrices_[parameter].elements());
      step_size_[parameter] = f.step_size(std::sqrt(p_squares / n), gradient_scale * std::sqrt(u_squares / n));
    }
  }

  std::vector<Matrices> matrices_;  // of the parameters
  PieceBlocks<RowPiece> blocks_;
  std::vector<std::size_t> first_piece_;  // of the parameters that have a gradient
  std::vector<double> sums_;              // row sums and column sums of each piece
  std::vector<float> ratios_;             // R over its mean, of all rows
  std::size_t sums_used_ = 0, ratios_used_ = 0;
  std::vector<double> step_size_;  // of the parameters
};

}  // namespace

std::vector<OptimizerInfo> adafactor_optimizers() {
  return {{.kind = OptimizerKind::adafactor,
           .name = "adafactor",
           .usual_rate = 1e-2,          // relative to the size of a parameter
           .state_per_parameter = 0.1,  // a row and a column of each matrix, and sums on the way
           .make = [](Module& module, const OptimizerOptions& options) -> std::unique_ptr<Optimizer> {
             return std::make_unique<Adafactor>(module, options);
           }}};
}

}  // namespace addnorm
