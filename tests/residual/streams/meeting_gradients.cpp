// Where skip and branch part, their gradients meet: in one addition, whatever was fused.
#include "addnorm/autograd/tape.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/residual/residual.h"
#include "support/modules.h"
#include "support/streams/stream_runs.h"
#include "support/test_names.h"

namespace addnorm {
namespace {

using test::kWidth;
using test::normal_tensor;
using test::row_branches;

class EveryMeeting : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Catalogue, EveryMeeting, testing::ValuesIn(arrangement_names()), test::name_of_test);

/// The gradients at the place before unit `at` from which skip and branch part: the stream, or N_in of it in norm-skip.
struct Meeting {
  const Residual& residual;
  const std::vector<Var>& w;
  std::size_t at;
  bool normed_skip;
  bool whole_layer;  // its units read one and the same Var: their branches come back together

  /// Of the whole stack; at_branch is what comes back to the branch's own input. Detached: nothing comes back there.
  struct Gradients {
    Tensor at_parting, at_branch;
  };
  Gradients of_stack(bool detached) const {
    test::Listener listener;
    listener.retain = true;
    Var read_here, branch_here;
    const Var x(normal_tensor({2, 3, kWidth}, 1), true);
    const std::size_t layer = residual.shape().unit(at).layer;
    const auto branch = [&](const Unit& unit, const Var& read) {
      Var own = reshape(read, read.shape());
      if (unit.index == at) {
        read_here = read;
        branch_here = whole_layer ? read : own;
        read_here.retain_grad();
        branch_here.retain_grad();
      }
      const bool cut = detached && (unit.index == at || (whole_layer && unit.layer == layer));
      return mul_row(cut ? own.detach() : own, w[unit.index]);
    };
    const Var y = test::run_units(residual, x, branch, {}, &listener);
    backward(y, normal_tensor(y.shape(), 9));
    const Var& parting = normed_skip ? listener.partings[at].whole : listener.streams[at];
    return {parting.grad().clone(), detached ? Tensor() : branch_here.grad().clone()};
  }
  /// Back from the branch's input to the parting, and nothing else.
  Tensor of_branch(const Tensor& at_branch) const {
    if (normed_skip) return at_branch;
    test::Listener listener;
    listener.retain = true;
    const Var x(normal_tensor({2, 3, kWidth}, 1), true);
    const auto stream = residual.open(x, {}, &listener);
    for (std::size_t i = 0; i < at; ++i) {
      const Unit unit = residual.shape().unit(i);
      if (unit.first_in_layer) stream->enter(unit.layer);
      stream->write(unit, mul_row(stream->read(unit), w[i]));
      if (unit.last_in_layer) stream->leave(unit.layer);
    }
    const Unit unit = residual.shape().unit(at);
    if (unit.first_in_layer) stream->enter(unit.layer);
    const Var u = stream->read(unit);
    backward(reshape(u, u.shape()), at_branch);
    return listener.streams[at].grad();
  }
};

// A gradient is one float addition, of what comes back along the skip and what comes back through the branch.
TEST_P(EveryMeeting, OfSkipAndBranchIsOneAddition) {
  const auto residual = make_residual(GetParam(), {.width = kWidth, .layers = 2});
  test::scramble(*residual);
  const std::vector<Var> w = row_branches(residual->shape());
  const std::string name = GetParam();
  if (name == "plain" || name == "plain-ln") return;   // no skip
  const bool mixes = test::mixes_layers(name);         // a layer begins with a mix, not with the stream
  const bool parallel = name.starts_with("parallel");  // later units of a layer read what the first read
  for (std::size_t at = 0; at < residual->shape().units(); ++at) {
    const bool first = residual->shape().unit(at).first_in_layer;
    if ((mixes && first) || (parallel && !first)) continue;
    SCOPED_TRACE(at);
    const Meeting meeting{*residual, w, at, name == "norm-skip", name == "parallel"};
    const Meeting::Gradients all = meeting.of_stack(false), skip = meeting.of_stack(true);
    const Tensor met = add(Var(skip.at_parting), Var(meeting.of_branch(all.at_branch))).value();
    EXPECT_SAME_BITS(all.at_parting.values<float>(), met.values<float>());
    EXPECT_FALSE(test::same_bits(all.at_parting.values<float>(), skip.at_parting.values<float>()));
  }
}

// Whoever watches gets the two parts themselves.
TEST_P(EveryMeeting, IsReportedInPartsWhoseSumIsTheWhole) {
  const auto residual = make_residual(GetParam(), {.width = kWidth, .layers = 3});
  test::scramble(*residual);
  test::Listener listener;
  listener.retain = true;
  const Var x(normal_tensor({2, 3, kWidth}, 1), true);
  const Var y = test::run_stack(*residual, x, row_branches(residual->shape()), {}, &listener);
  backward(y, normal_tensor(y.shape(), 9));
  const bool no_skip = GetParam() == "plain" || GetParam() == "plain-ln";
  const bool by_layer = GetParam().starts_with("parallel");  // one parting for all units of a layer
  ASSERT_EQ(listener.partings.size(), no_skip ? 0 : by_layer ? 3 : 6);
  for (const auto& [unit, whole, skip, branch] : listener.partings) {
    SCOPED_TRACE(unit.index);
    const bool third_way = GetParam() == "resi-dual" || GetParam() == "denseformer";  // of the stack's input, past all units
    if (third_way && unit.index == 0) continue;
    const Tensor sum = add(Var(skip.grad()), Var(branch.grad())).value();
    EXPECT_SAME_BITS(whole.grad().values<float>(), sum.values<float>());
    EXPECT_FALSE(test::same_bits(sum.values<float>(), skip.grad().values<float>()));
    EXPECT_SAME_BITS(whole.value().values<float>(), branch.value().values<float>());
  }
}

}  // namespace
}  // namespace addnorm
