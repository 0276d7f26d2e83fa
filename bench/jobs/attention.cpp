// Causal self-attention, forward and backward together, from packed q, k, v.
#include <cmath>
#include <memory>

#include "bench/jobs/workload.h"
#include "kernels/attention/attention.h"

namespace addnorm::bench {
namespace {

struct Sizes {
  std::size_t batch, heads, length, d_head;

  std::size_t width() const { return heads * d_head; }
  std::size_t tokens() const { return batch * length; }
};

/// qkv and its gradient are [batch, length, 3, heads, d_head]: one product makes q, k and v, nothing is transposed.
class Attention {
 public:
  explicit Attention(const Sizes& s)
      : sizes_(s),
        memory_(s.tokens() * (8 * s.width() * sizeof(float) + s.heads * sizeof(double)), 5),
        qkv_(memory_.take(3 * s.tokens() * s.width())),
        dqkv_(memory_.take(3 * s.tokens() * s.width())),
        out_(memory_.take(s.tokens() * s.width())),
        dout_(memory_.take(s.tokens() * s.width())),
        lse_(memory_.take_doubles(s.tokens() * s.heads)) {}

  void run() {
    kernels::AttentionGradArgs args = arguments();
    reserve(kernels::attention_forward_scratch(args.forward));
    args.forward.scratch = scratch_;
    kernels::attention_forward(args.forward);
    reserve(kernels::attention_backward_scratch(args.forward));
    args.forward.scratch = scratch_;
    kernels::attention_backward(args);
  }

 private:
  template <class T>
  kernels::HeadView<T> part_of_packed(T* packed, std::size_t which) const {
    return {packed + which * sizes_.width(), 3 * sizes_.length * sizes_.width(), 3 * sizes_.width(), sizes_.d_head};
  }
  template <class T>
  kernels::HeadView<T> rows(T* data) const {
    return {data, sizes_.length * sizes_.width(), sizes_.width(), sizes_.d_head};
  }

  kernels::AttentionGradArgs arguments() const {
    kernels::AttentionGradArgs args;
    kernels::AttentionArgs& f = args.forward;
    f.batch = sizes_.batch;
    f.heads = f.kv_heads = sizes_.heads;
    f.queries = f.keys = sizes_.length;
    f.d_head = f.d_value = sizes_.d_head;
    f.q = part_of_packed<const float>(qkv_, 0);
    f.k = part_of_packed<const float>(qkv_, 1);
    f.v = part_of_packed<const float>(qkv_, 2);
    f.o = rows(out_);
    f.lse = lse_;
    f.scale = 1 / std::sqrt(static_cast<float>(sizes_.d_head));
    f.causal = true;
    args.d_o = rows<const float>(dout_);
    args.dq = part_of_packed(dqkv_, 0);
    args.dk = part_of_packed(dqkv_, 1);
    args.dv = part_of_packed(dqkv_, 2);
    return args;
  }

  void reserve(std::size_t floats) {
    if (floats <= reserved_) return;
    scratch_memory_ = std::make_unique<Buffers>(floats * sizeof(float), 1);
    scratch_ = scratch_memory_->take(floats);
    reserved_ = floats;
  }

  Sizes sizes_;
  Buffers memory_;
  float *qkv_, *dqkv_, *out_, *dout_;
  double* lse_;
  std::unique_ptr<Buffers> scratch_memory_;
  float* scratch_ = nullptr;
  std::size_t reserved_ = 0;
};

/// Two products forward, five backward, for the pairs that causality leaves.
double operations(const Sizes& s) {
  const double pairs = static_cast<double>(s.length) * static_cast<double>(s.length + 1) / 2;
  return 7 * 2 * pairs * static_cast<double>(s.d_head) * static_cast<double>(s.batch * s.heads);
}

Workload make_attention(const Sizes& s) {
  const auto attention = std::make_shared<Attention>(s);
  Workload w;
  w.name = "attention forward+backward";
  w.shape = {s.batch, s.heads, s.length, s.d_head};
  w.work = operations(s);
  w.ours = [attention](std::size_t, bool) { attention->run(); };
  w.peer = {w.name, w.shape};
  return w;
}

}  // namespace

std::vector<Job> attention_jobs() {
  const Sizes s{8, 6, 256, 64};
  return {{"attention", "attention forward+backward", {s.batch, s.heads, s.length, s.d_head}, {false}, false, [=] {
             return make_attention(s);
           }}};
}

}  // namespace addnorm::bench
