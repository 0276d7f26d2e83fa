#include "bench/print_embed.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <utility>

#include "bench/bench.h"
#include "bench/format.h"

namespace addnorm::bench {
namespace {

using Rivals = std::vector<std::pair<const char*, const std::optional<Result::Rival>*>>;
Rivals rivals_of(const Result& r) {
  return {{"torch", &r.torch}, {"onnxruntime", &r.onnxruntime}, {"ctranslate2", &r.ctranslate2}, {"openvino", &r.openvino}};
}
Rivals bf16_rivals_of(const Result& r) { return {{"torch_bf16", &r.torch_bf16}, {"openvino_bf16", &r.openvino_bf16}}; }

bool is_load(const Result& r) { return r.tokens == 0 && r.seconds > 0; }
bool is_memory(const Result& r) { return r.weights_mib > 0; }
bool has_bf16(const Result& r) { return r.torch_bf16 || r.openvino_bf16; }

/// The fastest, and what it is called in JSON; null: none.
struct Best {
  const char* name = nullptr;
  Result::Rival rival{};
};
Best best_of(const Rivals& rivals) {
  Best best;
  for (const auto& [name, rival] : rivals)
    if (*rival && (best.name == nullptr || (*rival)->ratio < best.rival.ratio)) best = {name, **rival};
  return best;
}

std::string case_name(const Result& r) { return (r.name == "embed" ? "" : r.name.substr(6) + " ") + shape_text(r.shape, " x "); }

/// What a row and its heading have in common: the case, threads, our time, their times, ratios to PyTorch and to the fastest.
void print_heading(const std::string& title, const std::string& limits, const std::vector<const char*>& peers,
                   std::ostream& out) {
  out << '\n'
      << std::left << std::setw(24) << title << std::right << std::setw(9) << "threads" << std::setw(12) << "time" << limits;
  for (const char* peer : peers) out << std::setw(14) << peer;
  out << std::setw(10) << "x torch" << std::setw(10) << "x best" << '\n';
}

void print_row(const Result& r, const std::string& limits, const Rivals& rivals, std::ostream& out) {
  out << "  " << std::left << std::setw(22) << case_name(r) << std::right << std::setw(9) << r.threads << std::setw(12)
      << duration(r.seconds) << limits;
  for (const auto& [name, rival] : rivals) out << std::setw(14) << (*rival ? duration((*rival)->seconds) : "-");
  const auto& torch = *rivals.front().second;
  const Best best = best_of(rivals);
  out << std::setw(10) << (torch ? fixed(torch->ratio, 2) : "-") << std::setw(10)
      << (best.name != nullptr ? fixed(best.rival.ratio, 2) : "-") << '\n';
}

/// "   183.2     87 %"
std::string of_limit(const Result& r) {
  std::ostringstream out;
  out << std::setw(9) << fixed(r.work / r.seconds / 1e9, 1) << std::setw(9) << fixed(100 * r.share_of_limit, 0) + " %";
  return out.str();
}

void add_rivals(Json& j, const Rivals& rivals, const std::string& suffix) {
  for (const auto& [name, rival] : rivals) {
    if (!*rival) continue;
    j[std::string(name) + "_seconds"] = (*rival)->seconds;
    j[std::string("ratio_to_") + name] = (*rival)->ratio;
    j[std::string("quartiles_to_") + name] = Json::array({(*rival)->low, (*rival)->high});
  }
  const Best best = best_of(rivals);
  if (best.name == nullptr) return;
  j["best" + suffix] = best.name;
  j["ratio_to_best" + suffix] = best.rival.ratio;
}

}  // namespace

Json embed_json(const Result& r) {
  Json j = {{"name", r.name}, {"threads", r.threads}};
  if (is_memory(r)) {
    j["peak_mib"] = r.peak_mib;
    j["weights_mib"] = r.weights_mib;
    j["ratio_to_weights"] = r.peak_mib / r.weights_mib;
    return j;
  }
  j["seconds"] = r.seconds;
  if (is_load(r)) return j;
  j["shape"] = r.shape;
  j["tokens_per_second"] = static_cast<double>(r.tokens) / r.seconds;
  j["flops_per_second"] = r.work / r.seconds;
  j["share_of_limit"] = r.share_of_limit;
  add_rivals(j, rivals_of(r), "");
  add_rivals(j, bf16_rivals_of(r), "_bf16");
  if (r.cosine > 0) j["cosine"] = r.cosine;
  if (r.cosine_bf16 > 0) j["cosine_bf16"] = r.cosine_bf16;
  j["others_cores"] = r.others;
  return j;
}

std::vector<Result>::const_iterator print_embed(std::vector<Result>::const_iterator begin,
                                                std::vector<Result>::const_iterator all_end, std::ostream& out) {
  const auto end = std::find_if(begin, all_end, [](const Result& r) { return r.group != "embed"; });
  print_heading("embed: MiniLM, texts", "  GFLOP/s of limit", {"torch", "onnxruntime", "ctranslate2", "openvino"}, out);
  for (auto r = begin; r != end; ++r) {
    if (is_memory(*r))
      out << "  memory, at most         " << fixed(r->peak_mib, 0) << " MiB, " << fixed(r->peak_mib / r->weights_mib, 2)
          << " x the weights\n";
    else if (is_load(*r))
      out << "  loading the model       " << duration(r->seconds) << '\n';
    else
      print_row(*r, of_limit(*r), rivals_of(*r), out);
  }
  if (std::none_of(begin, end, has_bf16)) return end;
  print_heading("peers in bf16, we in f32", "", {"torch bf16", "openvino bf16"}, out);
  for (auto r = begin; r != end; ++r)
    if (has_bf16(*r)) print_row(*r, "", bf16_rivals_of(*r), out);
  return end;
}

}  // namespace addnorm::bench
