#include "bench/peers/onednn_norm.h"

#include <omp.h>

#include <optional>
#include <unordered_map>

#include "addnorm/core/error.h"
#include "addnorm/core/parallel.h"

// oneDNN's C++ header is not clean under our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <dnnl.hpp>
#pragma GCC diagnostic pop

namespace addnorm::bench {
namespace {

using Arguments = std::unordered_map<int, dnnl::memory>;
using LayerNorm = dnnl::layer_normalization_forward;
using LayerNormGrad = dnnl::layer_normalization_backward;
using Format = dnnl::memory::format_tag;

constexpr auto kFloat = dnnl::memory::data_type::f32;
const auto kFlags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;

}  // namespace

struct OneDnnNorm::Primitives {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<float> mean, variance, dgamma, dbeta;
  bool backward = false;
  dnnl::primitive norm, add;
  struct Step {
    Arguments norm;
    std::optional<Arguments> add;
  };
  std::vector<Step> steps;
};

OneDnnNorm::OneDnnNorm(std::size_t rows, std::size_t width, bool backward, float* gamma, float* beta,
                       const std::vector<Slot>& slots)
    : p_(std::make_unique<Primitives>()) {
  omp_set_num_threads(threads());  // oneDNN asks OpenMP, not us
  p_->backward = backward;
  p_->mean.resize(rows);
  p_->variance.assign(rows, 0.4f);
  p_->dgamma.resize(width);
  p_->dbeta.resize(width);

  const auto n = static_cast<dnnl::memory::dim>(rows), d = static_cast<dnnl::memory::dim>(width);
  const dnnl::memory::desc matrix({n, d}, kFloat, Format::ab), rows_only({n}, kFloat, Format::a), row({d}, kFloat, Format::a);
  const auto at = [&](const dnnl::memory::desc& what, float* where) { return dnnl::memory(what, p_->engine, where); };
  const LayerNorm::primitive_desc forward_desc({dnnl::prop_kind::forward_training, matrix, 1e-5f, kFlags}, p_->engine);
  if (backward) {
    p_->norm = LayerNormGrad({{dnnl::prop_kind::backward, matrix, matrix, 1e-5f, kFlags}, p_->engine, forward_desc});
  } else {
    p_->norm = LayerNorm(forward_desc);
  }
  p_->add = dnnl::binary({{dnnl::algorithm::binary_add, matrix, matrix, matrix}, p_->engine});

  const auto sum = [&](float* a, float* b, float* to) {
    return Arguments{{DNNL_ARG_SRC_0, at(matrix, a)}, {DNNL_ARG_SRC_1, at(matrix, b)}, {DNNL_ARG_DST, at(matrix, to)}};
  };
  for (const Slot& slot : slots) {
    Primitives::Step step;
    float* source = !backward && slot.added != nullptr ? slot.stored : slot.x;
    step.norm = {{DNNL_ARG_SRC, at(matrix, source)},
                 {DNNL_ARG_MEAN, at(rows_only, p_->mean.data())},
                 {DNNL_ARG_VARIANCE, at(rows_only, p_->variance.data())},
                 {DNNL_ARG_SCALE, at(row, gamma)},
                 {DNNL_ARG_SHIFT, at(row, beta)}};  // backward too: it does not read it, but refuses to run without
    if (backward) {
      step.norm.insert({{DNNL_ARG_DIFF_DST, at(matrix, slot.dy)},
                        {DNNL_ARG_DIFF_SRC, at(matrix, slot.out)},
                        {DNNL_ARG_DIFF_SCALE, at(row, p_->dgamma.data())},
                        {DNNL_ARG_DIFF_SHIFT, at(row, p_->dbeta.data())}});
      if (slot.added != nullptr) step.add = sum(slot.out, slot.added, slot.out);
    } else {
      step.norm.insert({DNNL_ARG_DST, at(matrix, slot.out)});
      if (slot.added != nullptr) step.add = sum(slot.x, slot.added, slot.stored);
    }
    p_->steps.push_back(std::move(step));
  }
}

OneDnnNorm::~OneDnnNorm() = default;

void OneDnnNorm::run(std::size_t slot) {
  const Primitives::Step& step = p_->steps[slot];
  if (step.add && !p_->backward) p_->add.execute(p_->stream, *step.add);
  p_->norm.execute(p_->stream, step.norm);
  if (step.add && p_->backward) p_->add.execute(p_->stream, *step.add);
  p_->stream.wait();
}

std::string onednn_version() {
  const dnnl_version_t* v = dnnl_version();
  return concat(v->major, ".", v->minor, ".", v->patch);
}

}  // namespace addnorm::bench
