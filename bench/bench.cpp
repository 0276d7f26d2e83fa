#include "bench/bench.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <thread>

#include "addnorm/core/error.h"
#include "addnorm/core/parallel.h"
#include "addnorm/residual/init_spec.h"
#include "bench/jobs/embed_measure.h"
#include "bench/jobs/step_measure.h"
#include "bench/machine/idle.h"

namespace addnorm::bench {
namespace {

std::vector<Job> all_jobs(const Options& options = {}) {
  std::vector<Job> jobs = norm_jobs();
  for (const auto& more : {gemm_jobs(), attention_jobs(), step_jobs(options.init, options.words), embed_jobs(options.python)})
    jobs.insert(jobs.end(), more.begin(), more.end());
  return jobs;
}

/// Without repetitions, in the order of first mention.
template <class T>
std::vector<T> each_once(const std::vector<T>& values) {
  std::vector<T> result;
  for (const T& value : values)
    if (std::find(result.begin(), result.end(), value) == result.end()) result.push_back(value);
  return result;
}

/// The known spelling of every name; UsageError for an unknown one.
std::vector<std::string> resolved(const std::string& what, const std::vector<std::string>& given,
                                  const std::vector<std::string>& known) {
  std::vector<std::string> result;
  for (const std::string& name : given) {
    const auto same = [&](const std::string& k) { return folded(k) == folded(name); };
    const auto found = std::find_if(known.begin(), known.end(), same);
    if (found == known.end()) throw UsageError(unknown_name(what, name, known));
    result.push_back(*found);
  }
  return result;
}

bool wanted(const std::vector<std::string>& chosen, const std::string& name) {
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), name) != chosen.end();
}

/// What --shape calls it.
std::string shape_name(const Job& job) { return job.label.empty() ? shape_text(job.shape, "x") : job.label; }

std::vector<std::string> shapes_of(const std::vector<Job>& jobs) {
  std::vector<std::string> shapes;
  for (const Job& job : jobs) shapes.push_back(shape_name(job));
  return each_once(shapes);
}

bool draws_weights(const Job& job) { return job.group == "train-step" || job.group == "decode"; }

std::vector<Job> chosen_jobs(const Options& options) {
  std::vector<Job> jobs = all_jobs(options);
  const auto groups = resolved("group", options.groups, group_names());
  std::erase_if(jobs, [&](const Job& job) { return groups.empty() ? static_cast<bool>(job.child) : !wanted(groups, job.group); });
  const std::vector<std::string> known = shapes_of(jobs);
  require(options.shapes.empty() || !known.empty(), "--shape ", options.shapes.empty() ? "" : options.shapes.front(),
          ": no chosen group has shapes; add a group such as add-norm, or leave --shape out");
  const auto shapes = resolved("shape", options.shapes, known);
  std::erase_if(jobs, [&](const Job& job) { return !wanted(shapes, shape_name(job)); });
  require(InitOptions{.rule = options.init}.by_arrangement() || std::ranges::any_of(jobs, draws_weights), "--init ", options.init,
          ": nothing that was chosen draws the weights of a model; it is for train-step and decode. Add one of them, or leave ",
          "--init out");
  return jobs;
}

std::vector<int> chosen_threads(const Options& options) {
  for (const int count : options.threads)
    require(count >= 1 && count <= kMaxThreads, "--threads ", count, ": 1 to ", kMaxThreads, " are possible");
  if (!options.threads.empty()) return each_once(options.threads);
  return std::thread::hardware_concurrency() > 1 ? std::vector<int>{1, 2} : std::vector<int>{1};
}

std::unique_ptr<Peer> start_peer(const std::string& python, std::ostream& notes) {
  auto peer = python.empty() ? nullptr : std::make_unique<Peer>(python);
  if (peer && peer->alive()) return peer;
  notes << "no comparison with PyTorch: " << (peer ? peer->problem() : "it was not found; ./scripts/peers installs it") << '\n';
  return nullptr;
}

void run_job(const Job& job, const std::vector<int>& thread_counts, const Options& options, Limits& limits, Peer* peer,
             std::ostream& notes, std::vector<Result>& results) {
  const Workload w = job.make();
  Effort effort;
  if (job.brief) effort.budget_seconds /= 2;
  if (options.quick) effort = {.budget_seconds = 0, .slice_seconds = 0.008, .rounds = 5};
  const bool compared = peer != nullptr && peer->alive() && !w.peer.kind.empty();
  if (compared && !peer->prepare(w.peer, w.slots)) notes << "  PyTorch: " << peer->problem() << '\n';
  // A thread count of its own makes torch.compile compile again: only the largest is worth the wait.
  const int most = *std::max_element(thread_counts.begin(), thread_counts.end());
  for (const int count : thread_counts)
    for (const bool cold : job.cold) {
      results.push_back(measure(w, cold, count, effort, !options.quick && count == most, limits, peer));
      results.back().group = job.group;
    }
  if (compared && !peer->alive()) notes << "  " << peer->problem() << "; no ratios to it from here on\n";
}

/// Whole steps take a second or so each: few rounds, one step per slice.
void run_step(const Job& job, const std::vector<int>& thread_counts, const Options& options, Limits& limits, Worker& worker,
              bool compared, std::ostream& notes, std::vector<Result>& results) {
  const Workload w = job.make();
  const int most = *std::max_element(thread_counts.begin(), thread_counts.end());
  StepPeers peers;
  const bool bf16 = bf16_peers(this_cpu(), options.bf16_anyway) != Bf16::none;
  if (compared) peers = start_step_peers(w, options.python, most, {.compile = !options.quick, .bf16 = bf16}, notes);
  const Effort effort{.budget_seconds = options.quick ? 0.0 : 8.0, .slice_seconds = 0.25, .rounds = options.quick ? 3 : 5};
  for (const int count : thread_counts) {
    const Result row = measure_step(w, count, effort, count == most, limits, worker, peers);
    if (!(row.seconds > 0)) {
      notes << "  our own process ended: no memory left, or an error in the step\n";
      return;
    }
    results.push_back(row);
    results.back().group = job.group;
  }
}

/// What ratios to PyTorch are worth on this CPU: MKL, which multiplies for it, is Intel's.
std::optional<ProductShares> shares_on_amd(const Options& options, int threads, Peer* peer, Limits& limits, std::ostream& notes) {
  if (peer == nullptr || !peer->has_mkl() || !this_cpu().amd()) return std::nullopt;
  notes << "measuring PyTorch's products\n";
  return product_shares(*peer, threads, {.budget_seconds = options.quick ? 0.0 : 0.8}, limits);
}

/// One process for each whole step. They fork before anything is measured: what this process maps is not theirs.
std::vector<std::unique_ptr<Worker>> start_workers(const std::vector<Job>& jobs) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (const Job& job : jobs) workers.push_back(job.child ? std::make_unique<Worker>(job.child) : nullptr);
  return workers;
}

/// A team of threads waits for its slowest: one core taken away now and then doubles every time with two threads.
void warn_of_others(const Report& report, double during_machine, std::ostream& notes) {
  if (during_machine > 0.1)
    notes << "Other programs or other virtual machines used " << std::round(during_machine * 10) / 10
          << " cores while this machine was measured: its limits are higher than printed, most of all with several threads.\n";
  const auto disturbed =
      std::count_if(report.results.begin(), report.results.end(), [](const Result& r) { return r.others > 0.1; });
  if (disturbed > 0)
    notes << "Other programs or other virtual machines used more than a tenth of a core during " << disturbed << " of "
          << report.results.size() << " measurements (others_cores in --json): trust those figures less.\n";
}

}  // namespace

std::vector<std::string> group_names() {
  return {"machine", "add-norm", "layer-norm", "rms-norm", "gemm", "attention", "train-step", "decode", "embed"};
}

std::vector<std::string> shape_names(const std::string& group) {
  std::vector<Job> jobs = all_jobs();
  std::erase_if(jobs, [&](const Job& job) { return job.group != group; });
  return shapes_of(jobs);
}

Report run(const Options& options, std::ostream& notes) {
  const std::vector<Job> jobs = chosen_jobs(options);
  const std::vector<int> thread_counts = chosen_threads(options);
  const int before = threads();
  const auto workers = start_workers(jobs);
  const auto is_embed = [](const Job& job) { return job.embed.has_value(); };
  EmbedBench embed(options, std::ranges::any_of(jobs, is_embed), notes);
  notes << "measuring this machine\n";
  const OthersWatch others({});
  Report report;
  if (!InitOptions{.rule = options.init}.by_arrangement()) report.init = init_rule_named(options.init).name;
  report.machine = measure_machine(thread_counts, options.quick ? 0.03 : 0.1);
  report.bf16 = bf16_peers(this_cpu(), options.bf16_anyway);
  if (report.bf16 == Bf16::emulated) notes << kEmulated << '\n';
  const double during_machine = others.cores();
  if (!jobs.empty()) {
    const bool only_embed = std::ranges::all_of(jobs, is_embed);  // has peers of its own
    auto peer = only_embed && (options.python.empty() || !this_cpu().amd()) ? nullptr : start_peer(options.python, notes);
    if (peer) report.torch = peer->version();
    Limits limits;
    report.products = shares_on_amd(options, *std::ranges::max_element(thread_counts), peer.get(), limits, notes);
    if (only_embed) peer = nullptr;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      notes << '[' << i + 1 << '/' << jobs.size() << "] " << jobs[i].name << ' ' << shape_text(jobs[i].shape, "x") << std::endl;
      if (jobs[i].embed)
        embed.measure(jobs[i], thread_counts, limits, *workers[i], report);
      else if (workers[i])
        run_step(jobs[i], thread_counts, options, limits, *workers[i], peer != nullptr, notes, report.results);
      else
        run_job(jobs[i], thread_counts, options, limits, peer.get(), notes, report.results);
    }
    embed.add_totals(report);
  }
  set_threads(before);
  warn_of_others(report, during_machine, notes);
  return report;
}

}  // namespace addnorm::bench
