// A machine that does not say what it has: one processor, and all the memory that an address can reach.
#include <limits>

#include "core/system/machine.h"

namespace addnorm {

void sleep_for(std::chrono::milliseconds) {}
std::string host_name() { return "an unknown machine"; }
MachineFacts machine_facts() { return {}; }

MemoryLimit available_memory() { return {std::numeric_limits<std::size_t>::max(), "what addresses can reach"}; }
int granted_threads() { return 1; }

}  // namespace addnorm
