// What is measured: one kernel at one shape, with its memory, its bytes or operations, and its peers.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "addnorm/core/names.h"
#include "bench/jobs/embed.h"
#include "bench/machine/machine.h"
#include "bench/peers/peer.h"

namespace addnorm::bench {

/// What bounds a kernel: its memory traffic (Workload::traffic), reading alone, or multiply-adds.
enum class Limit { traffic, read, fma };

using Call = std::function<void(std::size_t slot)>;
using OurCall = std::function<void(std::size_t slot, bool cold)>;

/// Holds `slots` copies of its arrays: cold runs walk through them, so that inputs and outputs have left every cache when
/// their turn comes again; hot runs stay on the first.
struct Workload {
  std::string name;  ///< "add_layer_norm forward"
  std::vector<std::size_t> shape;
  Limit limit = Limit::fma;
  Traffic traffic = Traffic::copy;  ///< the streams of the kernel itself, where they are its limit
  double work = 0;                  ///< bytes that must move, or floating-point operations
  std::size_t working_set = 0;      ///< bytes of one slot
  std::size_t slots = 1;
  std::size_t tokens = 0;        ///< whole steps: how many one call trains or writes
  OurCall ours;                  ///< may know whether it runs cold, as a caller knows how much memory the program touches
  std::function<Call()> onednn;  ///< makes the call for the present number of threads; empty: oneDNN does not have it
  PeerWork peer;
  bool compiled = false;  ///< the peer also has a torch.compile form of it
  bool bf16 = false;      ///< the peer also has bf16 forms of it, eager and compiled
  bool by_hand = false;   ///< the peer also has a form that calls the operators of the eager one by hand
};

/// A workload that is made when its turn comes: all of them together would not fit into memory.
struct Job {
  std::string group;
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<bool> cold;  ///< which caches to measure: false hot, true cold
  bool brief;              ///< no target depends on it: half the time will do
  std::function<Workload()> make;
  std::string label{};  ///< what --shape calls it; empty: the shape itself
  /// Whole steps: makes the call, in a process of its own (worker.h). Empty: Workload::ours is called here.
  std::function<std::function<void()>()> child{};
  std::optional<EmbedCase> embed{};  ///< sentence vectors: measured by embed_measure.h
};

std::vector<Job> norm_jobs();
std::vector<Job> gemm_jobs();
std::vector<Job> attention_jobs();
/// train-step, decode. `init`: how weights start; `words`: what the refusal of one calls it.
std::vector<Job> step_jobs(const std::string& init = "arrangement", const FieldWords& words = nullptr);
/// Sentence vectors. The model is that of the interpreter's package, or one of its shape where there is none.
std::vector<Job> embed_jobs(const std::string& python);

/// Slots that make up a pool several times larger than the last-level cache.
std::size_t cold_slots(std::size_t slot_bytes);

}  // namespace addnorm::bench
