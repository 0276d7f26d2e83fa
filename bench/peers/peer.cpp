#include "bench/peers/peer.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "addnorm/core/error.h"
#include "bench/peers/torch_peer.h"
#include "bench/slice.h"
#include "core/json/json.h"

extern char** environ;  // NOLINT: POSIX has it no other way

namespace addnorm::bench {
namespace {

/// Large blocks come from the heap and stay there: otherwise each result above 32 MiB is mapped and unmapped, and PyTorch
/// spends most of its time in page faults. Huge pages as for our own arrays.
constexpr std::array<std::string_view, 5> kMallocSettings = {"MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=17179869184",
                                                             "MALLOC_TOP_PAD_=268435456", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
                                                             "THP_MEM_ALLOC_ENABLE=1"};

/// This process's environment with those settings in place of its own. Pointers into `settings` and environ.
std::vector<char*> peer_environment(std::array<std::string, kMallocSettings.size()>& settings) {
  std::vector<char*> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool replaced = false;
    for (const std::string_view s : kMallocSettings) replaced = replaced || std::strncmp(*entry, s.data(), s.find('=') + 1) == 0;
    if (!replaced) result.push_back(*entry);
  }
  for (std::size_t i = 0; i < settings.size(); ++i) {
    settings[i] = kMallocSettings[i];
    result.push_back(settings[i].data());
  }
  result.push_back(nullptr);
  return result;
}

bool belongs_to_us(const std::filesystem::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && status.st_uid == geteuid();
}

/// Seconds. Generous: importing torch reads many files, perhaps from a slow disk.
constexpr double kPatienceWithImport = 120;

std::string text_in(const Json& fields, std::string_view name, const std::string& otherwise) {
  const Json* found = fields.find(name);
  return found && found->is_string() ? found->text() : otherwise;
}

/// What stands between us and the library when the process did not greet us. `said` is its first line, `fields` that as JSON.
std::string why_not_there(const PeerScript& script, const std::string& python, const std::optional<std::string>& said,
                          const Json& fields) {
  if (!said)
    return concat("'", python, "' ended, or said nothing for ", kPatienceWithImport, " s; is it a Python 3 whose ",
                  script.library, " loads?");
  if (!fields.is_object()) return concat("'", python, "' did not answer as Python 3 does; is it a Python interpreter?");
  const std::string error = text_in(fields, "error", "it does not say why");
  if (error == concat("ModuleNotFoundError: No module named '", script.library, "'"))  // not a module that it misses itself
    return concat("'", python, "' has no ", script.name, "; install ", script.library,
                  " for it, or use the interpreter that ./scripts/peers makes");
  return concat("'", python, "' cannot load ", script.name, " (", error, ")");
}

}  // namespace

std::filesystem::path installed_python(const std::filesystem::path& from) {
  std::error_code unreadable;
  for (auto folder = from; !folder.empty(); folder = folder.parent_path()) {
    auto python = folder / ".peers" / "bin" / "python";
    if (std::filesystem::exists(python, unreadable) && belongs_to_us(folder) && belongs_to_us(folder / ".peers") &&
        belongs_to_us(folder / "scripts" / "peers"))
      return python;
    if (folder == folder.root_path()) break;
  }
  return {};
}

struct Peer::Answer {
  Json fields;
};

PeerScript torch_script() { return {torch_peer_source(), "torch", "PyTorch"}; }

Peer::Peer(const std::string& python, Malloc malloc, PeerScript script) : script_(std::move(script)) {
  start(python, malloc);
  if (!alive()) return;
  const auto hello = read_line(kPatienceWithImport);
  const Json fields = hello ? parsed_or_null(*hello) : Json();
  if (fields.is_object() && fields.contains(script_.library)) {
    version_ = text_in(fields, script_.library, "unknown");
    const Json* mkl = fields.find("mkl");
    mkl_ = mkl != nullptr && mkl->is_boolean() && mkl->boolean();
    return;
  }
  problem_ = why_not_there(script_, python, hello, fields);
  stop();
}

Peer::~Peer() { stop(); }

void Peer::start(const std::string& python, Malloc malloc) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    problem_ = std::strerror(errno);
    return;
  }
  socket_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::array<std::string, 4> arguments = {python, "-c", script_.source, script_.library};
  std::array<char*, 5> argv = {arguments[0].data(), arguments[1].data(), arguments[2].data(), arguments[3].data(), nullptr};
  std::array<std::string, kMallocSettings.size()> settings;
  const std::vector<char*> environment = peer_environment(settings);
  char** const its_environment = malloc == Malloc::fast ? const_cast<char**>(environment.data()) : environ;
  const int failed = posix_spawnp(&pid_, python.c_str(), &actions, nullptr, argv.data(), its_environment);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    // ENOENT is also a link to nowhere, a missing #! interpreter, or a bare name that is not in PATH.
    const std::string what =
        failed == ENOENT ? "was not found, or what it points to was not" : concat("cannot be run (", std::strerror(failed), ")");
    problem_ =
        concat("'", python, "' ", what, "; --python takes the path of an interpreter that has torch, ./scripts/peers makes one");
    pid_ = -1;
    stop();
  }
}

void Peer::stop() {
  if (socket_ >= 0) close(socket_);  // end of input ends the script
  socket_ = -1;
  if (pid_ <= 0) return;
  // Once waitpid has seen the end, the number may belong to another process: no signal after that.
  bool ended = false;
  for (int i = 0; i < 100 && !ended; ++i) {
    ended = waitpid(pid_, nullptr, WNOHANG) != 0;
    if (!ended) usleep(20'000);
  }
  if (!ended) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_ = -1;
}

std::optional<std::string> Peer::read_line(double patience) {
  const double end = now() + patience;
  while (true) {
    if (const auto at = unread_.find('\n'); at != std::string::npos) {
      std::string line = unread_.substr(0, at);
      unread_.erase(0, at + 1);
      return line;
    }
    pollfd ready{socket_, POLLIN, 0};
    const double left = end - now();
    if (left <= 0) return std::nullopt;
    const int readable = poll(&ready, 1, static_cast<int>(left * 1e3) + 1);
    if (readable < 0 && errno == EINTR) continue;  // our own signal, not the peer's failure
    if (readable <= 0) return std::nullopt;
    std::array<char, 4096> part;
    const ssize_t got = read(socket_, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    unread_.append(part.data(), static_cast<std::size_t>(got));
  }
}

std::optional<Peer::Answer> Peer::ask(const std::string& line, double patience) {
  if (!alive()) return std::nullopt;
  const std::string message = line + "\n";
  // A peer that died is noticed by what send returns; no signal, for SIGPIPE belongs to our own output.
  const bool sent = send(socket_, message.data(), message.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(message.size());
  const auto reply = sent ? read_line(patience) : std::nullopt;
  if (!reply) {
    problem_ = concat("the ", script_.name, " process ended or hung");
    if (pid_ > 0) kill(pid_, SIGKILL);
    stop();
    return std::nullopt;
  }
  Answer answer{parsed_or_null(*reply)};
  if (!answer.fields.is_object() || answer.fields.contains("error")) {
    problem_ = answer.fields.is_object() ? text_in(answer.fields, "error", *reply) : *reply;
    return std::nullopt;
  }
  return answer;
}

bool Peer::prepare(const PeerWork& work, std::size_t slots) {
  const Json request = {{"do", "prepare"}, {"kind", work.kind}, {"sizes", work.sizes}, {"slots", slots}};
  return ask(request.dump(), 60).has_value();
}

bool Peer::prepare(const std::string& request) { return ask(request, 900).has_value(); }

bool Peer::warm(const std::string& variant, int threads) {
  const Json request = {{"do", "warm"}, {"variant", variant}, {"threads", threads}};
  const auto answer = ask(request.dump(), 600);
  precision_ = answer ? text_in(answer->fields, "precision", "") : "";
  return answer.has_value();
}

std::optional<double> Peer::slice(const std::string& variant, bool cold, int threads, double seconds) {
  const Json request = {{"do", "slice"}, {"variant", variant}, {"cold", cold}, {"threads", threads}, {"seconds", seconds}};
  const auto answer = ask(request.dump(), 300);
  if (!answer) return std::nullopt;
  const Json* measured = answer->fields.find("seconds");
  return measured && measured->is_number() ? measured->number() : 0;
}

}  // namespace addnorm::bench
