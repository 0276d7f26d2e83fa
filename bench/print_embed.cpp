#include "bench/print_embed.h"

#include <iomanip>
#include <ostream>
#include <utility>

#include "bench/bench.h"
#include "bench/format.h"

namespace addnorm::bench {
namespace {

using Rivals = std::vector<std::pair<const char*, const std::optional<Result::Rival>*>>;
Rivals rivals_of(const Result& r) {
  return {{"torch", &r.torch}, {"onnxruntime", &r.onnxruntime}, {"ctranslate2", &r.ctranslate2}};
}

bool is_load(const Result& r) { return r.tokens == 0 && r.seconds > 0; }
bool is_memory(const Result& r) { return r.weights_mib > 0; }

void print_row(const Result& r, std::ostream& out) {
  const bool mixed = r.name != "embed";
  out << "  " << std::left << std::setw(22) << (mixed ? r.name.substr(6) + " " : std::string()) + shape_text(r.shape, " x ")
      << std::right << std::setw(9) << r.threads << std::setw(12) << duration(r.seconds) << std::setw(9)
      << fixed(r.work / r.seconds / 1e9, 1) << std::setw(9) << fixed(100 * r.share_of_limit, 0) + " %";
  for (const auto& [name, rival] : rivals_of(r)) out << std::setw(14) << (*rival ? duration((*rival)->seconds) : "-");
  out << std::setw(10) << (r.torch ? fixed(r.torch->ratio, 2) : "-");
  const BestRival best = best_rival(r);
  out << std::setw(10) << (best.name != nullptr ? fixed(best.rival.ratio, 2) : "-") << '\n';
}

}  // namespace

BestRival best_rival(const Result& r) {
  BestRival best;
  for (const auto& [name, rival] : rivals_of(r))
    if (*rival && (best.name == nullptr || (*rival)->ratio < best.rival.ratio)) best = {name, **rival};
  return best;
}

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
  for (const auto& [name, rival] : rivals_of(r)) {
    if (!*rival) continue;
    j[std::string(name) + "_seconds"] = (*rival)->seconds;
    j[std::string("ratio_to_") + name] = (*rival)->ratio;
    j[std::string("quartiles_to_") + name] = Json::array({(*rival)->low, (*rival)->high});
  }
  if (const BestRival best = best_rival(r); best.name != nullptr) {
    j["best"] = best.name;
    j["ratio_to_best"] = best.rival.ratio;
  }
  if (r.cosine > 0) j["cosine"] = r.cosine;
  j["others_cores"] = r.others;
  return j;
}

std::vector<Result>::const_iterator print_embed(std::vector<Result>::const_iterator begin,
                                                std::vector<Result>::const_iterator end, std::ostream& out) {
  out << '\n'
      << std::left << std::setw(24) << "embed: MiniLM, texts" << std::right << std::setw(9) << "threads" << std::setw(12)
      << "time" << std::setw(9) << "GFLOP/s" << std::setw(9) << "of limit" << std::setw(14) << "torch" << std::setw(14)
      << "onnxruntime" << std::setw(14) << "ctranslate2" << std::setw(10) << "x torch" << std::setw(10) << "x best" << '\n';
  for (; begin != end && begin->group == "embed"; ++begin) {
    if (is_memory(*begin))
      out << "  memory, at most         " << fixed(begin->peak_mib, 0) << " MiB, "
          << fixed(begin->peak_mib / begin->weights_mib, 2) << " x the weights\n";
    else if (is_load(*begin))
      out << "  loading the model       " << duration(begin->seconds) << '\n';
    else
      print_row(*begin, out);
  }
  return begin;
}

}  // namespace addnorm::bench
