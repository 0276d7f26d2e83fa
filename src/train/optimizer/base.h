// What all optimizers share: the parameters with their state, the groups, and the cut of everything into blocks for threads.
#pragma once

#include <string>
#include <vector>

#include "addnorm/core/parallel.h"
#include "addnorm/train/optimizer.h"
#include "kernels/optimizer/args.h"

namespace addnorm {

/// State of a parameter: a tensor and its name, which follows the parameter's path.
struct OptimizerState {
  std::string name;
  Tensor value;
  Shape shape;
};

struct TrainedParameter {
  std::string path;
  Var* value;         // inside the module
  std::size_t group;  // 0: decayed, 1: not
  std::vector<OptimizerState> state{};

  bool has_gradient() const { return value->grad().defined(); }
};

class OptimizerBase : public Optimizer {
 public:
  OptimizerBase(Module& module, const OptimizerOptions& options);

  void step(double lr, double gradient_scale) final;
  double gradient_norm() const final;
  double parameter_norm() const final;
  void clear_gradients() final;
  std::int64_t steps() const final { return steps_; }
  void set_steps(std::int64_t steps) final;
  const std::vector<ParameterGroup>& groups() const final { return groups_; }
  void visit_state(const std::function<void(const std::string& name, Tensor& value)>& see) final;

 protected:
  const OptimizerOptions& options() const { return options_; }
  std::vector<TrainedParameter>& parameters() { return parameters_; }
  /// The settings of group `g` (0: decayed, 1: not).
  double weight_decay(std::size_t group) const { return group == 0 ? options_.weight_decay : 0; }
  /// Gives a parameter zeros of this shape; called from constructors, outside of arena scopes.
  static void add_state(TrainedParameter& parameter, const char* name, const Shape& shape);

 private:
  /// Takes all memory that update() needs; gradients and state have been checked. When it throws, nothing has changed.
  virtual void gather() = 0;
  /// The update number steps(), of what was gathered.
  virtual void update(double lr, double gradient_scale) noexcept = 0;
  void check_tensors() const;

  OptimizerOptions options_;
  std::int64_t steps_ = 0;
  std::vector<TrainedParameter> parameters_;
  std::vector<ParameterGroup> groups_;
};

/// Work in pieces of at most kPiece elements, and in blocks of pieces of about as many together: a model of hundreds of small
/// tensors costs one fork and join. Where the cuts are depends on the sizes alone.
inline constexpr std::size_t kPiece = 16384;

template <class Piece>
class PieceBlocks {
 public:
  void clear() {
    pieces_.clear();
    ends_.clear();
    open_ = 0;
  }
  void add(const Piece& piece, std::size_t elements) {
    if (open_ != 0 && open_ + elements > kPiece) close();
    pieces_.push_back(piece);
    open_ += elements;
  }
  /// No more pieces are added; from here on nothing takes memory.
  void finish() {
    if (open_ != 0) close();
  }
  /// body(pieces of a block) for all blocks that are finished, on all threads.
  template <class Body>
  void run(Body&& body) {
    parallel_blocks(ends_.size(), [&](std::size_t block) {
      const std::size_t begin = block == 0 ? 0 : ends_[block - 1];
      body(std::span<Piece>(pieces_).subspan(begin, ends_[block] - begin));
    });
  }
  std::span<Piece> pieces() { return pieces_; }

 private:
  void close() {
    ends_.push_back(pieces_.size());
    open_ = 0;
  }
  std::vector<Piece> pieces_;
  std::vector<std::size_t> ends_;  // of blocks, in pieces
  std::size_t open_ = 0;           // elements of the block that is being filled
};

/// Without a path. count 0: all values are finite.
BadValue first_bad_value(const Tensor& tensor);

/// The norm of all gradients that are added; undefined ones count as 0. They stay where they are until it is asked for.
class GradientNorm {
 public:
  void add(const Tensor& gradient);
  double norm();

 private:
  struct Piece {
    const Tensor* gradient;
    std::size_t begin;
    std::size_t n;
    double squares;
  };
  static double squares_of(const Piece& piece);
  PieceBlocks<Piece> blocks_;
};

}  // namespace addnorm
