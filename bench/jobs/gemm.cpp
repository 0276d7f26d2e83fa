// The products of Transformer layers: forward y = x W^T, dx = dy W, dw = dy^T x, weights stored [out, in]; and forward with
// weights that were packed.
#include <array>
#include <memory>

#include "addnorm/core/error.h"
#include "bench/jobs/workload.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/packed.h"

namespace addnorm::bench {
namespace {

/// Leading dimensions that are multiples of 256 floats put a column into a few cache sets; 16 floats more avoid it.
constexpr std::size_t kPadding = 16;
std::size_t leading_dimension(std::size_t width, std::size_t padding) { return width % 256 == 0 ? width + padding : width; }

enum class Way { forward, dx, dw };
constexpr std::array<Way, 3> kWays = {Way::forward, Way::dx, Way::dw};
const char* name_of(Way way) { return way == Way::forward ? "forward" : way == Way::dx ? "dx" : "dw"; }

struct Layer {
  std::size_t tokens, in, out;
};

struct Matrices {
  Buffers memory;
  float *x, *w, *y;

  Matrices(const Layer& l, std::size_t ld_in, std::size_t ld_out)
      : memory(((l.tokens + l.out) * ld_in + l.tokens * ld_out) * sizeof(float), 3),
        x(memory.take(l.tokens * ld_in)),
        w(memory.take(l.out * ld_in)),
        y(memory.take(l.tokens * ld_out)) {}
};

kernels::Gemm arguments(Way way, const Layer& l, const Matrices& m, std::size_t ld_in, std::size_t ld_out) {
  kernels::Gemm g;
  switch (way) {
    case Way::forward:
      g.m = l.tokens, g.n = l.out, g.k = l.in;
      g.a = m.x, g.lda = ld_in, g.b = m.w, g.ldb = ld_in, g.transpose_b = true, g.c = m.y, g.ldc = ld_out;
      break;
    case Way::dx:
      g.m = l.tokens, g.n = l.in, g.k = l.out;
      g.a = m.y, g.lda = ld_out, g.b = m.w, g.ldb = ld_in, g.c = m.x, g.ldc = ld_in;
      break;
    case Way::dw:
      g.m = l.out, g.n = l.in, g.k = l.tokens;
      g.a = m.y, g.lda = ld_out, g.transpose_a = true, g.b = m.x, g.ldb = ld_in, g.c = m.w, g.ldc = ld_in;
      break;
  }
  return g;
}

Workload make_gemm(const std::string& name, Way way, const Layer& l, std::size_t padding) {
  const std::size_t ld_in = leading_dimension(l.in, padding), ld_out = leading_dimension(l.out, padding);
  const auto matrices = std::make_shared<Matrices>(l, ld_in, ld_out);
  const kernels::Gemm g = arguments(way, l, *matrices, ld_in, ld_out);
  Workload w;
  w.name = name;
  w.shape = {l.tokens, l.in, l.out};
  w.work = 2.0 * static_cast<double>(l.tokens) * static_cast<double>(l.in) * static_cast<double>(l.out);
  w.ours = [matrices, g](std::size_t, bool) { kernels::gemm(g); };
  w.peer = {concat("gemm ", name_of(way)), {l.tokens, l.in, l.out, padding}};
  return w;
}

Workload make_packed(const std::string& name, const Layer& l) {
  const auto matrices = std::make_shared<Matrices>(l, l.in, l.out);
  const auto packed = std::make_shared<Buffers>(kernels::packed_elements(l.out, l.in) * sizeof(float), 1);
  float* weight = packed->take(kernels::packed_elements(l.out, l.in));
  kernels::pack_weight(matrices->w, l.out, l.in, weight);
  Workload w;
  w.name = name;
  w.shape = {l.tokens, l.in, l.out};
  w.work = 2.0 * static_cast<double>(l.tokens) * static_cast<double>(l.in) * static_cast<double>(l.out);
  const kernels::PackedGemm g{.m = l.tokens, .n = l.out, .k = l.in, .a = matrices->x, .packed = weight, .c = matrices->y};
  w.ours = [matrices, packed, g](std::size_t, bool) { kernels::gemm_packed(g); };
  w.peer = {"gemm forward", {l.tokens, l.in, l.out, 0}};
  return w;
}

/// MiniLM's layers.
void add_packed_jobs(std::vector<Job>& jobs) {
  for (const std::size_t tokens : {16u, 128u, 1024u})
    for (const Layer& l :
         {Layer{tokens, 384, 384}, Layer{tokens, 384, 1152}, Layer{tokens, 384, 1536}, Layer{tokens, 1536, 384}}) {
      const std::string name = "packed gemm forward";
      jobs.push_back({"gemm", name, {l.tokens, l.in, l.out}, {false}, true, [=] { return make_packed(name, l); }});
    }
}

void add_jobs(const std::string& prefix, std::size_t padding, std::vector<Job>& jobs) {
  struct Model {
    std::size_t tokens, d;
  };
  for (const Way way : kWays)
    for (const auto& [tokens, d] : {Model{2048, 384}, Model{2048, 256}, Model{1024, 64}})
      for (const Layer& l : {Layer{tokens, d, d}, Layer{tokens, d, 3 * d}, Layer{tokens, d, 4 * d}, Layer{tokens, 4 * d, d}}) {
        if (padding == 0 && l.in % 256 != 0 && l.out % 256 != 0) continue;  // the same as its padded form
        const std::string name = prefix + name_of(way);
        jobs.push_back(
            {"gemm", name, {l.tokens, l.in, l.out}, {false}, padding == 0, [=] { return make_gemm(name, way, l, padding); }});
      }
}

}  // namespace

std::vector<Job> gemm_jobs() {
  std::vector<Job> jobs;
  add_jobs("gemm ", kPadding, jobs);
  add_jobs("contiguous gemm ", 0, jobs);
  add_packed_jobs(jobs);
  return jobs;
}

}  // namespace addnorm::bench
