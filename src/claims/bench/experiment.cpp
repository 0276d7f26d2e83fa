#include "claims/bench/experiment.h"

#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/residual/catalogue.h"
#include "addnorm/train/objective.h"
#include "probe/measures/measures.h"

namespace addnorm::lab {

Tensor random_tensor(const Shape& shape, std::uint64_t seed, DType dtype) {
  Tensor t(shape);
  const RandomKey key = RandomKey(seed).with("claims");
  float* const values = t.data<float>();
  for (std::size_t i = 0; i < t.elements(); ++i) values[i] = normal_at(key, i);
  return t.to(dtype);
}

double token_spread(const Tensor& x) { return moments(x, {}).spread; }

Tensor jacobian(const std::function<Var(const Var&)>& f, const Tensor& x, double h) {
  const NoGrad no_grad;
  const std::size_t n = x.elements();
  std::vector<std::vector<double>> columns;
  for (std::size_t i = 0; i < n; ++i) {
    const auto moved = [&](double by) {
      Tensor at = x.to(DType::f64).clone();
      at.data<double>()[i] += by;
      return values_of(f(Var(at)).value());
    };
    const std::vector<double> up = moved(h), down = moved(-h);
    columns.emplace_back();
    for (std::size_t k = 0; k < up.size(); ++k) columns.back().push_back((up[k] - down[k]) / (2 * h));
  }
  Tensor j({columns.front().size(), n}, DType::f64);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < columns[i].size(); ++k) j.data<double>()[k * n + i] = columns[i][k];
  return j;
}

Var run_units(const Residual& residual, const Var& x, const Branch& branch, const Pass& pass, StreamObserver* observer) {
  const auto stream = residual.open(x, pass, observer);
  for (std::size_t layer = 0; layer < residual.shape().layers; ++layer) {
    stream->enter(layer);
    for (std::size_t i = 0; i < residual.shape().sub_layers.size(); ++i) {
      const Unit unit = residual.shape().unit(layer, i);
      stream->write(unit, branch(unit, stream->read(unit)));
    }
    stream->leave(layer);
  }
  return stream->close();
}

LinearBranches::LinearBranches(const StackShape& shape, std::uint64_t seed, double gain, DType dtype)
    : LinearBranches(shape, seed, std::vector(shape.units(), gain), dtype) {}

LinearBranches::LinearBranches(const StackShape& shape, std::uint64_t seed, const std::vector<double>& gains, DType dtype) {
  for (std::size_t i = 0; i < shape.units(); ++i) {
    const Tensor drawn = random_tensor({shape.width, shape.width}, seed * 1009 + i, dtype);
    weights.emplace_back(addnorm::scale(Var(drawn), gains.at(i) / std::sqrt(static_cast<double>(shape.width))).value(), true);
  }
}

double gradient_passed(const Var& y, const Tensor& dy, const Var& x) {
  backward(y, dy);
  return length(x.grad()) / length(dy);
}

double start_deviation(const ClaimContext& context, Role role, const StackShape& shape, std::string_view arrangement,
                       std::size_t layer) {
  const auto residual = make_residual(with_init(arrangement_named(arrangement), {.rule = context.init}), shape);
  Var none;
  const Parameter square{.path = "", .value = none, .role = role, .parts = {}, .place = {.layer = layer}, .fan_in = shape.width};
  return residual->init(square, {.role = role, .first = 0, .rows = shape.width}).value().deviation();
}

std::vector<double> branch_gains(const ClaimContext& context, const StackShape& shape) {
  const StackShape in_layers{.width = shape.width, .layers = (shape.units() + 1) / 2};
  std::vector<double> gains;
  for (std::size_t unit = 0; unit < shape.units(); ++unit) {
    const double deviation = start_deviation(context, Role::ffn_out, in_layers, "residual", unit / 2);
    gains.push_back(deviation * std::sqrt(static_cast<double>(shape.width)));
  }
  return gains;
}

void draw(Module& module, const ClaimContext& context, const StackShape& shape, std::uint64_t seed) {
  const auto residual = make_residual(with_init(arrangement_named("residual"), {.rule = context.init}), shape);
  initialise(
      module, [&](const Parameter& parameter, const Part& part) { return residual->init(parameter, part); }, seed);
}

ModelConfig bench_model(const ClaimContext& context, std::string_view arrangement, std::size_t layers) {
  return {.vocab = 64,
          .layers = layers,
          .d_model = 64,
          .heads = 4,
          .d_ff = 256,
          .seq_len = 32,
          .arrangement = std::string(arrangement),
          .init = {.rule = context.init}};
}

std::unique_ptr<Model> started(const ModelConfig& config, std::uint64_t seed) {
  std::unique_ptr<Model> model = make_model(config, Start::blank);
  model->initialise(seed);
  return model;
}

Batch random_batch(const ModelConfig& config, std::size_t sequences, std::uint64_t seed) {
  Batch batch{.sequences = sequences};
  const RandomKey key = RandomKey(seed).with("batch");
  for (std::size_t i = 0; i < sequences * config.seq_len; ++i) {
    const auto id = [&](std::uint32_t which) {
      return static_cast<std::int32_t>(random_word(key.bits(), i, which) % config.vocab);
    };
    batch.ids.push_back(id(0));
    batch.labels.push_back(id(1));
  }
  return batch;
}

Profile profile_of(const Model& model, const Batch& batch, bool train) {
  Watch watch;
  const Var logits = batch_logits(model, batch, {.train = train}, {.stream = &watch});
  const Var loss = cross_entropy(logits, batch.labels, {.ignore_index = kIgnoredLabel});
  backward(loss);
  Profile profile{.loss = loss.value().item()};
  for (const Var& x : watch.streams) {
    profile.stream_rms.push_back(rms(x.value()));
    profile.spread.push_back(token_spread(x.value()));
    profile.gradient.push_back(x.grad().defined() ? length(x.grad()) : 0);
  }
  for (const Var& f : watch.branches) profile.branch_rms.push_back(rms(f.value()));
  return profile;
}

std::vector<Var> parameters_of(Model& model, Role role) {
  std::vector<Var> all;
  for_each_parameter(model, [&](Parameter& p) {
    if (p.role == role) all.push_back(p.value);
  });
  return all;
}

double gradient_length(const Var& parameter) { return parameter.grad().defined() ? length(parameter.grad()) : 0; }

}  // namespace addnorm::lab
