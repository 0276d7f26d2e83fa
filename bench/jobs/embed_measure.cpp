#include "bench/jobs/embed_measure.h"

#include <algorithm>
#include <ostream>

#include "addnorm/core/error.h"
#include "addnorm/core/parallel.h"
#include "bench/machine/idle.h"
#include "bench/peers/torch_peer.h"
#include "bench/slice.h"
#include "core/json/json.h"

namespace addnorm::bench {
namespace {

struct Library {
  const char *library, *name;
  std::optional<Result::Rival> Result::*rival;
  std::string Report::*version;
  bool bf16 = false;

  const char* precision() const { return bf16 ? "bf16" : "f32"; }
  std::string key() const { return concat(library, "-", precision()); }
};
constexpr Library kLibraries[] = {{"torch", "PyTorch with transformers", &Result::torch, &Report::torch},
                                  {"onnxruntime", "ONNX Runtime", &Result::onnxruntime, &Report::onnxruntime},
                                  {"ctranslate2", "CTranslate2", &Result::ctranslate2, &Report::ctranslate2},
                                  {"openvino", "OpenVINO", &Result::openvino, &Report::openvino},
                                  {"torch", "PyTorch with bf16 autocast", &Result::torch_bf16, &Report::torch, true},
                                  {"openvino", "OpenVINO in bf16", &Result::openvino_bf16, &Report::openvino, true}};

/// Short calls get many of them in a slice; of long ones a slice has one.
Effort effort_of(const Workload& w, bool quick) {
  const bool is_long = w.work > 20e9, takes_seconds = w.work > 200e9;
  if (quick) return {.budget_seconds = 0, .slice_seconds = 0.1, .rounds = 3};
  return {.budget_seconds = is_long ? 12.0 : 6.0, .slice_seconds = 0.15, .rounds = takes_seconds ? 4 : is_long ? 7 : 9};
}

/// What is known before anything is measured.
Result row_of(const Workload& w, int threads) {
  Result r;
  r.group = "embed";
  r.name = w.name;
  r.shape = w.shape;
  r.threads = threads;
  r.work = w.work;
  r.tokens = w.tokens;
  return r;
}

}  // namespace

EmbedBench::EmbedBench(const Options& options, bool wanted, std::ostream& notes)
    : python_(options.python),
      quick_(options.quick),
      bf16_(bf16_peers(this_cpu(), options.bf16_anyway) != Bf16::none),
      notes_(notes) {
  const std::filesystem::path folder = wanted ? minilm_folder(python_) : std::filesystem::path();
  if (folder.empty()) return;
  for (int i = 0; i < (quick_ ? 3 : 7); ++i)
    loaders_.push_back(std::make_unique<Worker>([folder] { return embed_load(folder); }));
}

void EmbedBench::start_peers(Report& report) {
  if (started_) return;
  started_ = true;
  peers_.resize(std::size(kLibraries));
  if (minilm_folder(python_).empty()) {
    notes_
        << "no comparison, and weights that were drawn: MiniLM and the libraries to compare with were not found; ./scripts/peers "
           "installs them\n";
    return;
  }
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto& [library, name, rival, version, bf16] = kLibraries[i];
    if (bf16 && !bf16_) continue;
    auto peer = std::make_unique<Peer>(python_, Peer::Malloc::plain, PeerScript{embed_peer_source(), library, name});
    if (!peer->alive()) {
      notes_ << "no comparison with " << name << ": " << peer->problem() << '\n';
      continue;
    }
    report.*version = peer->version();
    peers_[i] = std::move(peer);
  }
}

void EmbedBench::prepare(const EmbedCase& c) {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Json texts = Json::array();
    for (const auto& text : embed_texts(c)) texts.push_back(text);
    const Json request = {{"do", "prepare"},
                          {"folder", minilm_folder(python_).string()},
                          {"texts", texts},
                          {"batch", c.batch},
                          {"sorted", c.sorted},
                          {"out", vectors_file(c, kLibraries[i].key()).string()},
                          {"precision", kLibraries[i].precision()}};
    if (!peers_[i] || peers_[i]->prepare(request.dump())) continue;
    notes_ << "  " << kLibraries[i].name << ": " << peers_[i]->problem() << '\n';
    peers_[i] = nullptr;
  }
}

/// The least cosine between our vectors and those of any peer of that precision.
double EmbedBench::compare(const EmbedCase& c, bool bf16) const {
  const double needed = bf16 ? kLeastCosineBf16 : kLeastCosine;
  double least = 0;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (!peers_[i] || kLibraries[i].bf16 != bf16) continue;
    const double cosine = least_cosine(vectors_file(c, "addnorm"), vectors_file(c, kLibraries[i].key()), c.shape[0]);
    if (!(cosine > needed))
      throw NumericsError(concat("bench embed ", c.label, ": the vectors of addnorm and ", kLibraries[i].name,
                                 " disagree: the least cosine is ", cosine, ", more than ", needed, " is needed"));
    least = least == 0 ? cosine : std::min(least, cosine);
  }
  return least;
}

/// Whether that peer can be asked for slices. One that computes in another precision than its name says is dropped.
bool EmbedBench::ready(std::size_t i, int threads) {
  if (!peers_[i]) return false;
  const bool warm = peers_[i]->warm("eager", threads);
  const std::string computed = peers_[i]->precision();
  if (warm && computed == kLibraries[i].precision()) return true;
  notes_ << "  " << kLibraries[i].name
         << " is left out: " << (warm ? concat("it computes in ", computed, " on this CPU") : peers_[i]->problem()) << '\n';
  peers_[i] = nullptr;
  return false;
}

Result EmbedBench::row(const Workload& w, const EmbedCase& c, int threads, Limits& limits, Worker& worker) {
  set_threads(threads);
  const Effort effort = effort_of(w, quick_);
  Contender limit = alone(0, [&] { return std::optional(limits.seconds(w, false, threads, 0.02)); });
  Contender ours = alone(worker.pid(), [&] { return worker.slice(threads, effort.slice_seconds); });
  worker.slice(threads, 0);
  std::vector<Contender> theirs(peers_.size());
  std::vector<Contender*> turns = {&limit, &ours};
  std::vector<pid_t> taking_part = {worker.pid()};
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (!ready(i, threads)) continue;
    Peer* peer = peers_[i].get();
    theirs[i] = alone(peer->pid(), [=] { return peer->slice("eager", false, threads, effort.slice_seconds); });
    turns.push_back(&theirs[i]);
    taking_part.push_back(peer->pid());
  }
  const OthersWatch others(taking_part);
  take_turns(turns, effort);

  Result r = row_of(w, threads);
  r.others = others.cores();
  r.seconds = median(ours.seconds);
  if (const auto share = limit.compared_with(ours)) r.share_of_limit = share->ratio;
  for (std::size_t i = 0; i < theirs.size(); ++i) r.*(kLibraries[i].rival) = theirs[i].compared_with(ours);
  r.cosine = compare(c, false);
  r.cosine_bf16 = compare(c, true);
  return r;
}

void EmbedBench::measure(const Job& job, const std::vector<int>& thread_counts, Limits& limits, Worker& worker, Report& report) {
  start_peers(report);
  const Workload w = job.make();
  prepare(*job.embed);
  const bool many_calls = job.embed->batch < job.embed->shape[0];  // minutes on one thread
  for (const int threads : thread_counts) {
    if (many_calls && threads != thread_counts.back()) continue;
    const Result result = row(w, *job.embed, threads, limits, worker);
    if (!(result.seconds > 0)) {
      notes_ << "  our own process ended: no memory left, or an error in loading the model\n";
      break;
    }
    report.results.push_back(result);
  }
  peak_mib_ = std::max(peak_mib_, peak_mib(worker.pid()));
  std::error_code gone;
  std::filesystem::remove(vectors_file(*job.embed, "addnorm"), gone);
  for (const Library& library : kLibraries) std::filesystem::remove(vectors_file(*job.embed, library.key()), gone);
}

void EmbedBench::add_totals(Report& report) {
  if (loaders_.empty()) return;
  std::vector<double> seconds;
  for (auto& loader : loaders_) {  // one after the other: each finds the file in memory, and takes the pages of the one before
    if (loader->slice(1, 0)) seconds.push_back(loader->made_seconds());
    loader = nullptr;
  }
  Result load, memory;  // of a process; loading with one thread
  load.group = memory.group = "embed";
  load.name = "embed load";
  load.seconds = seconds.empty() ? 0 : median(seconds);
  memory.name = "embed memory";
  memory.peak_mib = peak_mib_;
  memory.weights_mib = static_cast<double>(minilm_bytes()) / (1 << 20);
  if (seconds.empty())
    notes_ << "  embed load: no process of ours could load the model\n";
  else
    report.results.push_back(load);
  report.results.push_back(memory);
}

}  // namespace addnorm::bench
