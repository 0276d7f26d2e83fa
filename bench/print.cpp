#include <hwy/targets.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <map>
#include <ostream>
#include <sstream>

#include "addnorm/core/version.h"
#include "bench/bench.h"
#include "bench/format.h"
#include "bench/peers/onednn_norm.h"
#include "bench/print_embed.h"
#include "core/json/json.h"

namespace addnorm::bench {
namespace {

std::string simd_name() {
  const auto targets = hwy::SupportedTargets();
  return hwy::TargetName(targets & -targets);  // the best one is the lowest bit
}

const char* cache_name(const Result& r) { return r.cold ? "cold" : "hot"; }

const char* limit_name(const Result& r) {
  return r.limit == Limit::fma ? "fma" : r.limit == Limit::read ? "read" : code_of(r.traffic);
}

std::string rival(const std::optional<Result::Rival>& r) { return r ? fixed(r->ratio, 2) : "-"; }

/// "312 0.41": MiB, and the share of what PyTorch needs.
std::string memory(const Result& r) {
  return fixed(r.peak_mib, 0) + (r.peak_mib_torch > 0 ? " " + fixed(r.peak_mib / r.peak_mib_torch, 2) : "");
}

void print_machine(const Report& report, std::ostream& out) {
  const Machine& m = report.machine;
  out << this_cpu().name << ", " << sysconf(_SC_NPROCESSORS_ONLN) << " cores, " << simd_name() << "; L2 "
      << (m.caches.l2_per_core >> 10) << " KiB per core, L3 " << (m.caches.l3 >> 20) << " MiB\n";
  for (const FmaLimit& f : m.fma)
    out << "  FMA peak, " << f.threads << (f.threads == 1 ? " thread:  " : " threads: ") << fixed(f.flops_per_second / 1e9, 0)
        << " GFLOP/s\n";
  out << "  memory, GB/s        threads    L2 regular  streaming    L3 regular  streaming  DRAM regular  streaming\n";
  for (std::size_t i = 0; i + 6 <= m.bandwidth.size(); i += 6) {
    out << "  " << std::left << std::setw(20) << name_of(m.bandwidth[i].traffic) << std::right << std::setw(7)
        << m.bandwidth[i].threads;
    for (std::size_t j = i; j < i + 6; ++j)
      out << std::setw(m.bandwidth[j].stores == StoreKind::regular ? 14 : 11) << fixed(m.bandwidth[j].bytes_per_second / 1e9, 1);
    out << '\n';
  }
}

/// What the figures below must be read with.
void print_peers(const Report& report, std::ostream& out) {
  if (!report.init.empty()) out << "weights of whole steps start by --init " << report.init << '\n';
  if (!report.torch.empty()) out << "PyTorch " << report.torch << ", oneDNN " << onednn_version() << '\n';
  if (const auto& p = report.products)
    out << "An AMD CPU: PyTorch's f32 products are Intel MKL's, which does badly on AMD, most of all with AVX-512.\n"
           "  Read ratios to PyTorch beside its share of the FMA peak here: "
        << fixed(100 * p->torch, 0) << " %, ours " << fixed(100 * p->ours, 0) << " % (" << shape_text(p->shape, " x ") << ", "
        << p->threads << (p->threads == 1 ? " thread)\n" : " threads)\n");
  const auto has_bf16_peers = [](const Result& r) { return r.group == "train-step" || r.group == "embed"; };
  if (report.bf16 == Bf16::native || std::ranges::none_of(report.results, has_bf16_peers)) return;
  out << (report.bf16 == Bf16::emulated ? kEmulated
                                        : "bf16: this CPU has none (neither avx512_bf16 nor amx_bf16), peers run in f32")
      << '\n';
}

/// The columns that rows and their means share.
void print_ratios(double share, const std::vector<std::string>& rivals, std::ostream& out) {
  out << std::setw(9) << fixed(100 * share, 0) + " %";
  for (const std::string& r : rivals) out << std::setw(10) << r;
  out << '\n';
}

void print_result(const Result& r, std::ostream& out) {
  out << "  " << std::left << std::setw(22) << shape_text(r.shape, " x ") << std::setw(6) << cache_name(r) << std::right
      << std::setw(7) << r.threads << std::setw(12) << duration(r.seconds) << std::setw(9) << fixed(r.work / r.seconds / 1e9, 1);
  if (r.tokens > 0)
    print_ratios(r.share_of_limit, {rival(r.torch), rival(r.eager), rival(r.compile), memory(r), rival(r.bf16)}, out);
  else
    print_ratios(r.share_of_limit, {rival(r.torch), rival(r.by_hand), rival(r.compile), rival(r.onednn)}, out);
}

/// Geometric mean of one ratio over rows that all have it; "-" when one has not.
std::string mean_rival(const std::vector<const Result*>& rows, std::optional<Result::Rival> Result::*which) {
  double logs = 0;
  for (const Result* r : rows) {
    if (!(r->*which)) return "-";
    logs += std::log((r->*which)->ratio);
  }
  return fixed(std::exp(logs / static_cast<double>(rows.size())), 2);
}

/// For each cache and thread count the geometric mean over the shapes.
void print_means(const std::vector<const Result*>& rows, std::ostream& out) {
  std::map<std::pair<std::string, int>, std::vector<const Result*>> alike;
  for (const Result* r : rows) alike[{cache_name(*r), r->threads}].push_back(r);
  for (const auto& [key, some] : alike) {
    if (some.size() < 2) continue;
    double logs = 0;
    for (const Result* r : some) logs += std::log(r->share_of_limit);
    out << "  " << std::left << std::setw(22) << "geometric mean" << std::setw(6) << key.first << std::right << std::setw(7)
        << key.second << std::setw(21) << "";
    print_ratios(std::exp(logs / static_cast<double>(some.size())),
                 {mean_rival(some, &Result::torch), mean_rival(some, &Result::by_hand), mean_rival(some, &Result::compile),
                  mean_rival(some, &Result::onednn)},
                 out);
  }
}

void print_heading(const Result& r, std::ostream& out) {
  out << '\n'
      << std::left << std::setw(30) << r.name << std::right << std::setw(7) << "threads" << std::setw(12) << "time"
      << std::setw(9) << (r.limit == Limit::fma ? "GFLOP/s" : "GB/s") << std::setw(9) << "of limit" << std::setw(10) << "x torch"
      << std::setw(10) << (r.tokens > 0 ? "x eager" : "x by hand") << std::setw(10) << "x compile" << std::setw(10)
      << (r.tokens > 0 ? "MiB" : "x oneDNN") << (r.tokens > 0 ? "    x bf16\n" : "\n");
}

Json machine_json(const Report& report) {
  const Machine& m = report.machine;
  Json j = {{"processor", this_cpu().name}, {"vendor", this_cpu().vendor},
            {"bf16", name_of(report.bf16)}, {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
            {"simd", simd_name()},          {"l2_bytes_per_core", m.caches.l2_per_core},
            {"l3_bytes", m.caches.l3},      {"addnorm", version()},
            {"onednn", onednn_version()}};
  if (!report.torch.empty()) j["torch"] = report.torch;
  if (!report.onnxruntime.empty()) j["onnxruntime"] = report.onnxruntime;
  if (!report.ctranslate2.empty()) j["ctranslate2"] = report.ctranslate2;
  if (!report.openvino.empty()) j["openvino"] = report.openvino;
  if (const auto& p = report.products)
    j["mkl_on_amd"] = {
        {"shape", p->shape}, {"threads", p->threads}, {"share_of_limit", p->torch}, {"our_share_of_limit", p->ours}};
  for (const FmaLimit& f : m.fma) j["fma_peak"].push_back({{"threads", f.threads}, {"flops_per_second", f.flops_per_second}});
  for (const BandwidthLimit& b : m.bandwidth)
    j["bandwidth"].push_back({{"traffic", code_of(b.traffic)},
                              {"level", name_of(b.level)},
                              {"stores", name_of(b.stores)},
                              {"threads", b.threads},
                              {"bytes_per_second", b.bytes_per_second}});
  return j;
}

void add_rival(Json& j, const std::string& name, const std::optional<Result::Rival>& r) {
  if (!r || !std::isfinite(r->ratio)) return;
  j[name + "_seconds"] = r->seconds;
  j["ratio_to_" + name] = r->ratio;
}

Json result_json(const Result& r) {
  Json j = {{"name", r.name}, {"shape", r.shape}, {"cache", cache_name(r)}, {"threads", r.threads}};
  j["seconds"] = r.seconds;
  j[r.limit == Limit::fma ? "flops_per_second" : "bytes_per_second"] = r.work / r.seconds;
  j["limit"] = limit_name(r);
  j["share_of_limit"] = r.share_of_limit;
  add_rival(j, "torch", r.torch);
  add_rival(j, "eager", r.eager);
  add_rival(j, "bf16", r.bf16);
  add_rival(j, "bf16_eager", r.bf16_eager);
  add_rival(j, "bf16_compile", r.bf16_compile);
  add_rival(j, "torch_by_hand", r.by_hand);
  add_rival(j, "compile", r.compile);
  add_rival(j, "onednn", r.onednn);
  if (r.tokens > 0) j["tokens_per_second"] = static_cast<double>(r.tokens) / r.seconds;
  if (r.peak_mib > 0) j["peak_mib"] = r.peak_mib;
  if (r.peak_mib_torch > 0) j["peak_mib_torch"] = r.peak_mib_torch;
  j["others_cores"] = r.others;
  return j;
}

}  // namespace

std::string shape_text(const std::vector<std::size_t>& shape, const char* between) {
  std::ostringstream out;
  for (std::size_t i = 0; i < shape.size(); ++i) out << (i == 0 ? "" : between) << shape[i];
  return out.str();
}

void print_table(const Report& report, std::ostream& out) {
  print_machine(report, out);
  print_peers(report, out);
  for (auto begin = report.results.begin(); begin != report.results.end();) {
    if (begin->group == "embed") {
      begin = print_embed(begin, report.results.end(), out);
      continue;
    }
    const auto end = std::find_if(begin, report.results.end(), [&](const Result& r) { return r.name != begin->name; });
    std::vector<const Result*> rows;
    for (auto r = begin; r != end; ++r) rows.push_back(&*r);
    print_heading(*begin, out);
    for (const Result* r : rows) print_result(*r, out);
    print_means(rows, out);
    begin = end;
  }
}

void print_json(const Report& report, std::ostream& out) {
  Json results = Json::array();
  for (const Result& r : report.results) results.push_back(r.group == "embed" ? embed_json(r) : result_json(r));
  Json all = {{"machine", machine_json(report)}, {"results", results}};
  if (!report.init.empty()) all["init"] = report.init;
  out << all.dump(1) << '\n';
}

}  // namespace addnorm::bench
