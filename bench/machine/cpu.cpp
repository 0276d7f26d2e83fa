#include "bench/machine/cpu.h"

#include <fstream>
#include <sstream>

namespace addnorm::bench {

Cpu cpu_of(std::istream& cpuinfo) {
  Cpu cpu;
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {  // an empty line ends a processor
    const auto colon = line.find(": ");
    const std::string value = colon == std::string::npos ? "" : line.substr(colon + 2);
    if (line.starts_with("model name")) cpu.name = value;
    if (line.starts_with("vendor_id")) cpu.vendor = value;
    if (!line.starts_with("flags")) continue;
    std::istringstream flags(value);
    for (std::string flag; flags >> flag;) cpu.bf16 = cpu.bf16 || flag == "avx512_bf16" || flag == "amx_bf16";
  }
  return cpu;
}

const Cpu& this_cpu() {
  static const Cpu cpu = [] {
    std::ifstream file("/proc/cpuinfo");
    return cpu_of(file);
  }();
  return cpu;
}

Bf16 bf16_peers(const Cpu& cpu, bool anyway) { return cpu.bf16 ? Bf16::native : anyway ? Bf16::emulated : Bf16::none; }

const char* name_of(Bf16 bf16) { return bf16 == Bf16::none ? "none" : bf16 == Bf16::native ? "native" : "emulated"; }

}  // namespace addnorm::bench
