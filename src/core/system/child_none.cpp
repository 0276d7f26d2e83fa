// No child processes: for platforms that have none.
#include "addnorm/core/error.h"
#include "core/system/child.h"

namespace addnorm {
namespace {

[[noreturn]] void refuse_process(std::string_view what) {
  throw Error(concat(what, ": this build of addnorm starts no processes (ADDNORM_PROCESSES=none)"));
}

}  // namespace

std::string ChildEnd::text() const { return concat("exit code ", code); }

bool Channel::send(const void*, std::size_t) { return false; }
bool Channel::receive(void*, std::size_t) { return false; }
std::optional<std::string> Channel::read_line(double) { return std::nullopt; }

Child Child::logged(std::vector<std::string> words, const std::filesystem::path&) { refuse_process(words.at(0)); }
Child Child::connected(std::vector<std::string> words, std::span<const std::string_view>) { refuse_process(words.at(0)); }
Child Child::forked(const std::function<void(Channel& channel)>&) { refuse_process("a copy of this process"); }

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)) {}
Child::~Child() = default;
std::optional<ChildEnd> Child::end_within(double) { return std::nullopt; }
void Child::ask_to_end() const {}
void Child::kill_now() const {}

}  // namespace addnorm
