#include "bench/measure.h"

#include <algorithm>
#include <utility>

#include "addnorm/core/parallel.h"
#include "addnorm/kernels/fma_peak.h"
#include "bench/machine/idle.h"
#include "bench/slice.h"

namespace addnorm::bench {
namespace {

Contender in_process(const Workload& w, Call call, bool cold, double seconds) {
  auto next = std::make_shared<std::size_t>(0);
  return {[=, slots = w.slots] {
    return std::optional(median(time_calls(seconds, cold ? 2 : 3, [&] { call(cold ? (*next)++ % slots : 0); })));
  }};
}

Contender in_peer(Peer& peer, const std::string& variant, bool cold, int threads, double seconds) {
  return {[=, &peer] {
    if (threads > 1) wait_until_idle(0);
    const auto result = peer.slice(variant, cold, threads, seconds);
    if (threads > 1 && peer.alive()) wait_until_idle(peer.pid());
    return result;
  }};
}

}  // namespace

std::optional<Result::Rival> Contender::compared_with(const Contender& ours) const {
  if (failed || seconds.empty()) return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.seconds.size(); ++i) ratios.push_back(seconds[i] / ours.seconds[i]);
  Result::Rival rival{median(seconds), median(ratios)};
  std::sort(ratios.begin(), ratios.end());
  rival.low = ratios[(ratios.size() - 1) / 4];
  rival.high = ratios[ratios.size() - 1 - (ratios.size() - 1) / 4];
  return rival;
}

Contender alone(pid_t pid, std::function<std::optional<double>()> slice) {
  return {[pid, slice = std::move(slice)]() -> std::optional<double> {
    wait_until_idle(0);
    const auto result = slice();
    wait_until_idle(pid);
    return result;
  }};
}

void take_turns(const std::vector<Contender*>& turns, const Effort& effort) {
  const double begin = now();
  for (int round = 0; round < effort.rounds || now() - begin < effort.budget_seconds; ++round)
    for (Contender* who : turns) {
      const auto result = who->failed ? std::nullopt : who->slice();
      who->failed = !result || !(*result > 0);
      if (!who->failed) who->seconds.push_back(*result);
    }
}

StoreKind Limits::faster_stores(Entry& entry, std::size_t floats, int threads) {
  const std::pair key(threads, floats);
  if (const auto known = entry.faster.find(key); known != entry.faster.end()) return known->second;
  const auto seconds = [&](StoreKind stores) {
    return median(time_calls(0.03, 2, [&] { entry.loop.run_piece(stores, floats); }));
  };
  const bool streaming = seconds(StoreKind::streaming) < seconds(StoreKind::regular);
  return entry.faster[key] = streaming ? StoreKind::streaming : StoreKind::regular;
}

double Limits::seconds(const Workload& w, bool cold, int threads, double slice_seconds) {
  if (w.limit == Limit::fma) {
    constexpr std::size_t kRounds = 20'000;  // a fifth of a millisecond or so
    double flops = 0;
    const double each = median(time_calls(slice_seconds / 2, 2, [&] { flops = kernels::multiply_add(kRounds); }));
    return w.work * each / flops;
  }
  if (w.limit == Limit::read) {
    ReadLimit& loop = reads_.try_emplace(w.working_set, w.working_set).first->second;
    return w.work * median(time_calls(slice_seconds, 1, [&] { loop.run(); })) / loop.bytes();
  }
  const std::size_t bytes = cold ? working_set(Level::dram, threads) : w.working_set;
  const std::pair key(w.traffic, bytes);
  auto found = entries_.find(key);
  if (found == entries_.end()) found = entries_.emplace(key, Entry{MemoryLimit(w.traffic, bytes), {}}).first;
  Entry& entry = found->second;
  const std::size_t floats = w.working_set / sizeof(float) / arrays_of(w.traffic) / 1024 * 1024;
  const StoreKind stores = faster_stores(entry, floats, threads);
  double moved = 0;
  const double each = median(time_calls(slice_seconds, cold ? 2 : 3, [&] { moved = entry.loop.run_piece(stores, floats); }));
  return w.work * each / moved;
}

Result measure(const Workload& w, bool cold, int threads, const Effort& effort, bool compile, Limits& limits, Peer* peer) {
  set_threads(threads);
  const double seconds = effort.slice_seconds;
  Contender limit{[&] { return std::optional(limits.seconds(w, cold, threads, seconds)); }};
  Contender ours = in_process(
      w, [&](std::size_t slot) { w.ours(slot, cold); }, cold, seconds);
  Contender onednn, torch, by_hand, compiled;
  std::vector<Contender*> turns = {&limit, &ours};
  if (w.onednn) {
    onednn = in_process(w, w.onednn(), cold, seconds);
    turns.push_back(&onednn);
  }
  if (peer != nullptr && peer->alive() && !w.peer.kind.empty()) {
    torch = in_peer(*peer, "eager", cold, threads, seconds);
    turns.push_back(&torch);
    if (w.compiled && compile && peer->warm("compile", threads)) {
      compiled = in_peer(*peer, "compile", cold, threads, seconds);
      turns.push_back(&compiled);
    }
    if (w.by_hand) {
      by_hand = in_peer(*peer, "by hand", cold, threads, seconds);
      turns.push_back(&by_hand);
    }
    peer->warm("eager", threads);
  }
  const OthersWatch others({peer != nullptr ? peer->pid() : 0});
  take_turns(turns, effort);
  Result r;
  r.name = w.name;
  r.shape = w.shape;
  r.cold = cold;
  r.threads = threads;
  r.limit = w.limit;
  r.traffic = w.traffic;
  r.work = w.work;
  r.others = others.cores();
  r.seconds = median(ours.seconds);
  r.share_of_limit = limit.compared_with(ours)->ratio;
  r.torch = torch.compared_with(ours);
  r.by_hand = by_hand.compared_with(ours);
  r.compile = compiled.compared_with(ours);
  r.onednn = onednn.compared_with(ours);
  return r;
}

}  // namespace addnorm::bench
