#include "bench/jobs/step_measure.h"

#include <array>
#include <ostream>

#include "addnorm/core/parallel.h"
#include "bench/machine/idle.h"
#include "bench/slice.h"

namespace addnorm::bench {
namespace {

/// One way to run PyTorch.
struct Form {
  const char* variant;
  std::unique_ptr<Peer> StepPeers::*peer;
  std::optional<Result::Rival> Result::*rival;
  bool compiled, bf16;
};
constexpr Form kForms[] = {{"eager", &StepPeers::eager, &Result::eager, false, false},
                           {"compile", &StepPeers::compiled, &Result::compile, true, false},
                           {"bf16", &StepPeers::bf16, &Result::bf16_eager, false, true},
                           {"compile bf16", &StepPeers::bf16_compiled, &Result::bf16_compile, true, true}};

/// Ready to be asked for slices of that form; null, and a note, when that fails.
std::unique_ptr<Peer> started(const Workload& w, const std::string& python, const Form& form, int threads, Peer::Malloc malloc,
                              std::ostream& notes) {
  auto peer = std::make_unique<Peer>(python, malloc);
  const bool ready = peer->alive() && peer->prepare(w.peer, 1) && peer->warm(form.variant, threads);
  if (ready && peer->precision() == (form.bf16 ? "bf16" : "f32")) return peer;
  notes << "  PyTorch, " << form.variant << ": " << (ready ? "it computed in " + peer->precision() : peer->problem()) << '\n';
  return nullptr;
}

std::optional<Result::Rival> faster(const std::optional<Result::Rival>& a, const std::optional<Result::Rival>& b) {
  return !a || (b && b->ratio < a->ratio) ? b : a;
}

Contender in_peer(Peer& peer, const std::string& variant, int threads, double seconds) {
  return alone(peer.pid(), [=, &peer] { return peer.slice(variant, false, threads, seconds); });
}

}  // namespace

std::vector<pid_t> StepPeers::pids() const {
  std::vector<pid_t> result;
  for (const Form& form : kForms)
    if (const Peer* peer = (this->*form.peer).get(); peer != nullptr && peer->alive()) result.push_back(peer->pid());
  return result;
}

StepPeers start_step_peers(const Workload& w, const std::string& python, int threads, StepForms wanted, std::ostream& notes) {
  StepPeers peers;
  const auto smallest = [&](const Peer* peer) {
    const double peak = peer == nullptr ? 0 : peak_mib(peer->pid());
    if (peak > 0 && (peers.peak_mib == 0 || peak < peers.peak_mib)) peers.peak_mib = peak;
  };
  for (const Form& form : kForms) {
    if ((form.compiled && !(wanted.compile && w.compiled)) || (form.bf16 && !(wanted.bf16 && w.bf16))) continue;
    if (form.compiled) notes << "  torch.compile" << (form.bf16 ? " with bf16" : "") << " ..." << std::endl;
    peers.*form.peer = started(w, python, form, threads, Peer::Malloc::fast, notes);
    if (!form.bf16) smallest((peers.*form.peer).get());
    if (&form != kForms) continue;
    if (peers.eager == nullptr) return peers;
    smallest(started(w, python, form, threads, Peer::Malloc::plain, notes).get());
  }
  return peers;
}

Result measure_step(const Workload& w, int threads, const Effort& effort, bool compile, Limits& limits, Worker& worker,
                    StepPeers& peers) {
  set_threads(threads);
  const double seconds = effort.slice_seconds;
  Contender limit = alone(0, [&] { return std::optional(limits.seconds(w, false, threads, 0.02)); });
  Contender ours = alone(worker.pid(), [&] { return worker.slice(threads, seconds); });
  std::array<Contender, std::size(kForms)> theirs;
  std::vector<Contender*> turns = {&limit, &ours};
  worker.slice(threads, 0);  // the first steps map memory
  worker.slice(threads, 0);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    Peer* peer = (peers.*kForms[i].peer).get();
    if (peer == nullptr || (kForms[i].compiled && !compile)) continue;
    if (!kForms[i].compiled && !peer->warm(kForms[i].variant, threads)) continue;  // what is compiled was warmed when it started
    theirs[i] = in_peer(*peer, kForms[i].variant, threads, seconds);
    turns.push_back(&theirs[i]);
  }
  std::vector<pid_t> taking_part = peers.pids();
  taking_part.push_back(worker.pid());
  const OthersWatch others(taking_part);
  take_turns(turns, effort);

  Result r;
  r.name = w.name;
  r.shape = w.shape;
  r.threads = threads;
  r.limit = w.limit;
  r.work = w.work;
  r.tokens = w.tokens;
  r.others = others.cores();
  r.seconds = median(ours.seconds);
  if (const auto share = limit.compared_with(ours)) r.share_of_limit = share->ratio;
  for (std::size_t i = 0; i < theirs.size(); ++i) r.*kForms[i].rival = theirs[i].compared_with(ours);
  r.torch = faster(r.eager, r.compile);
  r.bf16 = faster(r.bf16_eager, r.bf16_compile);
  r.peak_mib = peak_mib(worker.pid());
  r.peak_mib_torch = peers.peak_mib;
  return r;
}

}  // namespace addnorm::bench
