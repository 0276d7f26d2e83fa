// add_layer_norm, layer_norm, add_rms_norm: forward and backward.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "addnorm/kernels/add_norm.h"
#include "bench/jobs/workload.h"
#include "bench/peers/onednn_norm.h"

namespace addnorm::bench {
namespace {

struct Kind {
  const char* group;
  const char* name;
  bool add;  ///< sum = x + f first
  bool rms;
};
constexpr std::array<Kind, 3> kKinds = {{{"add-norm", "add_layer_norm", true, false},
                                         {"layer-norm", "layer_norm", false, false},
                                         {"rms-norm", "add_rms_norm", true, true}}};

using Size = std::array<std::size_t, 2>;  // rows, width
constexpr std::array<Size, 5> kSizes = {{{2048, 384}, {2048, 768}, {8192, 1024}, {512, 4096}, {4096, 64}}};

/// Arrays of all slots. Forward uses x, f, sum, y; backward dy, dsum, sum, dx: four arrays each, two of them absent
/// (forward) or one (backward) without the add.
struct NormArrays {
  struct Slot {
    float *in0, *in1, *stored, *out;
    double* mean;
    float* rstd;
  };
  std::unique_ptr<Buffers> memory;
  std::vector<Slot> slots;
  float *gamma, *beta, *dgamma, *dbeta;
};

/// Backward, x and f share one gradient.
Traffic traffic_of(const Kind& kind, bool backward) {
  if (backward) return kind.add ? Traffic::three_read_one_write : Traffic::two_read_one_write;
  return kind.add ? Traffic::two_read_two_write : Traffic::copy;
}

std::shared_ptr<NormArrays> make_arrays(const Kind& kind, bool backward, Size size, std::size_t slots) {
  const auto [rows, width] = size;
  const std::size_t per_slot = arrays_of(traffic_of(kind, backward)) * rows * width * sizeof(float) + rows * 12;
  auto arrays = std::make_shared<NormArrays>();
  arrays->memory = std::make_unique<Buffers>(slots * per_slot + 4 * width * sizeof(float), slots * 6 + 4);
  Buffers& memory = *arrays->memory;
  for (float** p : {&arrays->gamma, &arrays->beta, &arrays->dgamma, &arrays->dbeta}) *p = memory.take(width);
  for (std::size_t i = 0; i < slots; ++i) {
    NormArrays::Slot slot{};
    slot.in0 = memory.take(rows * width);
    if (kind.add) slot.in1 = memory.take(rows * width);
    if (kind.add || backward) slot.stored = memory.take(rows * width);
    slot.out = memory.take(rows * width);
    slot.mean = memory.take_doubles(rows);
    slot.rstd = memory.take(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      slot.mean[row] = 0.1 * slot.rstd[row];
      slot.rstd[row] = 1 + std::abs(slot.rstd[row]);
    }
    arrays->slots.push_back(slot);
  }
  return arrays;
}

AddNorm forward_args(const NormArrays& arrays, const Kind& kind, Size size, std::size_t slot) {
  const NormArrays::Slot& s = arrays.slots[slot];
  AddNorm a;
  a.rows = size[0], a.width = size[1];
  a.x = s.in0, a.f = s.in1, a.gamma = arrays.gamma;
  a.sum = s.stored, a.y = s.out, a.rstd = s.rstd;
  if (!kind.rms) a.beta = arrays.beta, a.mean = s.mean;
  return a;
}

AddNormGrad backward_args(const NormArrays& arrays, const Kind& kind, Size size, std::size_t slot) {
  const NormArrays::Slot& s = arrays.slots[slot];
  AddNormGrad a;
  a.rows = size[0], a.width = size[1];
  a.dy = s.in0, a.dsum = s.in1, a.sum = s.stored, a.rstd = s.rstd, a.gamma = arrays.gamma;
  a.dx = s.out, a.dgamma = arrays.dgamma;
  if (!kind.rms) a.mean = s.mean, a.dbeta = arrays.dbeta;
  return a;
}

/// Cold runs stand for a program that touches all slots before it comes back to one, and says so.
OurCall our_call(const Kind& kind, bool backward, Size size, std::size_t slot_bytes, const std::shared_ptr<NormArrays>& arrays) {
  const auto call = [=](auto* run, auto* arguments) -> OurCall {
    return [=](std::size_t slot, bool cold) {
      auto args = arguments(*arrays, kind, size, slot);
      args.stores = stores_for(slot_bytes * (cold ? arrays->slots.size() : 1));
      run(args);
    };
  };
  if (backward) return call(kind.rms ? add_rms_norm_grad : add_layer_norm_grad, backward_args);
  return call(kind.rms ? add_rms_norm : add_layer_norm, forward_args);
}

Call onednn_call(bool backward, Size size, const std::shared_ptr<NormArrays>& arrays) {
  std::vector<OneDnnNorm::Slot> slots;
  for (const NormArrays::Slot& s : arrays->slots) {
    if (backward)
      slots.push_back({s.stored, s.in0, s.in1, nullptr, s.out});
    else
      slots.push_back({s.in0, nullptr, s.in1, s.stored, s.out});
  }
  auto norm = std::make_shared<OneDnnNorm>(size[0], size[1], backward, arrays->gamma, arrays->beta, slots);
  return [norm, arrays](std::size_t slot) { norm->run(slot); };
}

Workload make_norm(const Kind& kind, bool backward, Size size) {
  Workload w;
  w.name = std::string(kind.name) + (backward ? " backward" : " forward");
  w.shape = {size[0], size[1]};
  w.limit = Limit::traffic;
  w.traffic = traffic_of(kind, backward);
  w.working_set = arrays_of(w.traffic) * size[0] * size[1] * sizeof(float);
  w.work = static_cast<double>(w.working_set);
  w.slots = cold_slots(w.working_set);
  const auto arrays = make_arrays(kind, backward, size, w.slots);
  w.ours = our_call(kind, backward, size, w.working_set, arrays);
  if (!kind.rms) w.onednn = [=] { return onednn_call(backward, size, arrays); };
  w.peer = {w.name, w.shape};
  w.compiled = kind.add && !kind.rms;
  w.by_hand = backward && !kind.rms;
  return w;
}

}  // namespace

std::size_t cold_slots(std::size_t slot_bytes) {
  const std::size_t pool = std::max(8 * cache_sizes().l3, std::size_t{256} << 20);
  return std::max<std::size_t>(3, (pool + slot_bytes - 1) / slot_bytes);
}

std::vector<Job> norm_jobs() {
  std::vector<Job> jobs;
  for (const Kind& kind : kKinds)
    for (const bool backward : {false, true})
      for (const Size& size : kSizes)
        jobs.push_back({kind.group,
                        std::string(kind.name) + (backward ? " backward" : " forward"),
                        {size[0], size[1]},
                        {true, false},
                        !kind.add || kind.rms,
                        [=] { return make_norm(kind, backward, size); }});
  return jobs;
}

}  // namespace addnorm::bench
