// What a stream is made of: the embedding, every branch, and the biases of the norms on the way, each as it still stands in it;
// and direct logit attribution: how much of the logits each of them brings by itself.
#pragma once

#include <functional>
#include <vector>

#include "addnorm/train/objective.h"
#include "probe/measures/measures.h"
#include "residual/streams/slot_stream.h"

namespace addnorm {

/// Keeps one tensor per component through a pass over an arrangement that is a row, and they add up to the stream:
///
///   y = a s + f:   every component of s (the stream, or N_in of it) times a, and the new one f, the branch as it is added
///   x' = N(y):     every component through N with its scale frozen, and beta joins the biases
///
/// Components: 0 the embedding (after the stack's entry norm), 1 + i the branch of unit i, the last one the biases of norms.
/// In double; holds units + 2 times the stream, twice its bytes each. For passes that do not train: batch norms are read by their
/// running statistics.
class Components final : public StreamObserver {
 public:
  using Values = std::vector<double>;  ///< [rows, width]

  /// Rows that do not count are carried along, but measured nowhere. Without `with_dependency` that is not measured, which takes
  /// half the time.
  Components(const SlotResidual& residual, const std::vector<std::size_t>& lengths, bool with_dependency = true);
  /// The residual as a row; null for arrangements that are classes (dlcl, resi-dual, ...): they have no components here.
  /// A cast, because a Residual of another class need not be a row, and nothing else needs it.
  static const SlotResidual* row_of(const Residual* residual) { return dynamic_cast<const SlotResidual*>(residual); }

  void on_branch(const Unit& unit, const Var& added) override;
  void on_stream(const Unit* unit, const Var& x) override;
  void take_exit();  ///< through the exit norm: they now add up to what the stack gives

  const std::vector<Values>& parts() const { return parts_; }  ///< empty ones are not there yet: 0
  const Shape& shape() const { return shape_; }                ///< of the stream
  DType dtype() const { return dtype_; }

  /// [place][component]: beta_ij^2 over their sum, beta_ij^2 the variance of component j over all elements of the stream at place
  /// i (Admin's layer dependency). Every row adds up to 1; components that are not there yet are 0.
  const std::vector<std::vector<double>>& dependency() const { return dependency_; }
  /// By unit: ||a s|| / ||a s + f||, the skip's share of the sum; 0 where there is no skip.
  const std::vector<double>& skip_share() const { return skip_share_; }
  /// By unit: ||a s||^2, of the rows that count.
  const std::vector<double>& skip_squares() const { return skip_squares_; }

 private:
  void begin(const Var& x);
  void add_branch(const Unit& unit);
  void through(const Norm& norm);
  void measure();
  Values& biases() { return parts_.back(); }

  const SlotResidual& residual_;
  std::vector<std::size_t> lengths_;
  bool with_dependency_;
  RowMask rows_;
  Shape shape_;
  DType dtype_ = DType::f32;
  std::vector<Values> parts_;
  Values x_;       // the stream, as it was announced: what sizes are taken of
  Values branch_;  // announced, not yet in the stream
  std::vector<std::vector<double>> dependency_;
  std::vector<double> skip_share_, skip_squares_;
};

/// see(component, logits) for every component after the exit norm (components.take_exit() has been called), and at last for
/// number parts().size(): the head's bias, the same row everywhere. They add up to the logits. One head product each.
void for_each_contribution(const Model& model, const Batch& batch, const Components& components,
                           const std::function<void(std::size_t component, const Tensor& logits)>& see);

/// By component, the head's bias counted to the biases of norms: mean over labels of z_label - mean of z, z the logits that the
/// component brings. What does not move the label against the average class brings nothing. Adds up to that of the whole logits.
std::vector<double> logit_attribution(const Model& model, const Batch& batch, const Components& components);

/// Over the labels that count: z_label - mean of z. One row for all labels where `logits` has one.
RunningMean label_margins(const Tensor& logits, const std::vector<std::int32_t>& labels);

}  // namespace addnorm
