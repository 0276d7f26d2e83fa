#include "bench/step_measure.h"

#include <ostream>

#include "addnorm/core/parallel.h"
#include "bench/idle.h"
#include "bench/slice.h"

namespace addnorm::bench {
namespace {

/// Ready to be asked for slices of `variant`; null, and a note, when that fails.
std::unique_ptr<Peer> started(const Workload& w, const std::string& python, const std::string& variant, int threads,
                              Peer::Malloc malloc, std::ostream& notes) {
  auto peer = std::make_unique<Peer>(python, malloc);
  if (peer->alive() && peer->prepare(w.peer, 1) && peer->warm(variant, threads)) return peer;
  notes << "  PyTorch, " << variant << ": " << peer->problem() << '\n';
  return nullptr;
}

Contender in_peer(Peer& peer, const std::string& variant, int threads, double seconds) {
  return alone(peer.pid(), [=, &peer] { return peer.slice(variant, false, threads, seconds); });
}

}  // namespace

std::vector<pid_t> StepPeers::pids() const {
  std::vector<pid_t> result;
  for (const Peer* peer : {eager.get(), compiled.get()})
    if (peer != nullptr && peer->alive()) result.push_back(peer->pid());
  return result;
}

StepPeers start_step_peers(const Workload& w, const std::string& python, int threads, bool compile, std::ostream& notes) {
  StepPeers peers;
  const auto smallest = [&](const Peer* peer) {
    const double peak = peer == nullptr ? 0 : peak_mib(peer->pid());
    if (peak > 0 && (peers.peak_mib == 0 || peak < peers.peak_mib)) peers.peak_mib = peak;
  };
  peers.eager = started(w, python, "eager", threads, Peer::Malloc::fast, notes);
  if (peers.eager == nullptr) return peers;
  smallest(peers.eager.get());
  smallest(started(w, python, "eager", threads, Peer::Malloc::plain, notes).get());
  if (compile && w.compiled) {
    notes << "  torch.compile ..." << std::endl;
    peers.compiled = started(w, python, "compile", threads, Peer::Malloc::fast, notes);
    smallest(peers.compiled.get());
  }
  return peers;
}

Result measure_step(const Workload& w, int threads, const Effort& effort, bool compile, Limits& limits, Worker& worker,
                    StepPeers& peers) {
  set_threads(threads);
  const double seconds = effort.slice_seconds;
  Contender limit = alone(0, [&] { return std::optional(limits.seconds(w, false, threads, 0.02)); });
  Contender ours = alone(worker.pid(), [&] { return worker.slice(threads, seconds); });
  Contender eager, compiled;
  std::vector<Contender*> turns = {&limit, &ours};
  worker.slice(threads, 0);  // the first steps map memory
  worker.slice(threads, 0);
  if (peers.eager != nullptr && peers.eager->warm("eager", threads)) {
    eager = in_peer(*peers.eager, "eager", threads, seconds);
    turns.push_back(&eager);
  }
  if (compile && peers.compiled != nullptr) {
    compiled = in_peer(*peers.compiled, "compile", threads, seconds);
    turns.push_back(&compiled);
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
  r.eager = eager.compared_with(ours);
  r.compile = compiled.compared_with(ours);
  r.torch = r.eager;
  if (r.compile && (!r.torch || r.compile->ratio < r.torch->ratio)) r.torch = r.compile;
  r.peak_mib = peak_mib(worker.pid());
  r.peak_mib_torch = peers.peak_mib;
  return r;
}

}  // namespace addnorm::bench
