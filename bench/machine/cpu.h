// Which processor this is, as far as comparisons depend on it.
#pragma once

#include <iosfwd>
#include <string>

namespace addnorm::bench {

struct Cpu {
  std::string name = "unknown";
  std::string vendor;  ///< "AuthenticAMD", "GenuineIntel"
  bool bf16 = false;   ///< multiplies numbers of 16 bits: avx512_bf16 or amx_bf16

  bool amd() const { return vendor == "AuthenticAMD"; }
};

/// From text as /proc/cpuinfo has it; the first processor counts.
Cpu cpu_of(std::istream& cpuinfo);
const Cpu& this_cpu();

/// Whether peers are measured in bf16, the precision that programs use where the processor has it.
enum class Bf16 {
  none,      ///< the processor has none: they are not
  native,    ///< they are
  emulated,  ///< the processor has none and they are all the same, to try the code: the figures mean nothing
};
Bf16 bf16_peers(const Cpu& cpu, bool anyway);
const char* name_of(Bf16 bf16);  ///< "none", "native", "emulated"
inline constexpr const char* kEmulated = "bf16: emulated, this CPU has none; figures in bf16 mean nothing";

}  // namespace addnorm::bench
