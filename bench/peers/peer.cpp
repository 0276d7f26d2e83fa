#include "bench/peers/peer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "addnorm/core/error.h"
#include "bench/peers/torch_peer.h"

namespace addnorm::bench {
namespace {

/// Large blocks come from the heap and stay there: otherwise each result above 32 MiB is mapped and unmapped, and PyTorch
/// spends most of its time in page faults. Huge pages as for our own arrays.
constexpr std::array<std::string_view, 5> kMallocSettings = {"MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=17179869184",
                                                             "MALLOC_TOP_PAD_=268435456", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
                                                             "THP_MEM_ALLOC_ENABLE=1"};

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

PeerScript torch_script() { return {torch_peer_source(), "torch", "PyTorch"}; }

Peer::Peer(const std::string& python, Malloc malloc, PeerScript script) : script_(std::move(script)) {
  const std::span<const std::string_view> settings(kMallocSettings);
  try {
    child_.emplace(Child::connected({python, "-c", script_.source, script_.library},
                                    settings.first(malloc == Malloc::fast ? settings.size() : 0)));
  } catch (const Error& error) {
    problem_ = concat(error.what(), "; --python takes the path of an interpreter that has torch, ./scripts/peers makes one");
    return;
  }
  const auto hello = child_->channel().read_line(kPatienceWithImport);
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

void Peer::stop() {
  if (!child_) return;
  child_->channel().close();  // end of input ends the script
  child_->end_within(2);
  child_.reset();
}

std::optional<Json> Peer::ask(const std::string& line, double patience) {
  if (!alive()) return std::nullopt;
  const std::string message = line + "\n";
  Channel& channel = child_->channel();
  const auto reply = channel.send(message.data(), message.size()) ? channel.read_line(patience) : std::nullopt;
  if (!reply) {
    problem_ = concat("the ", script_.name, " process ended or hung");
    child_.reset();
    return std::nullopt;
  }
  Json answer = parsed_or_null(*reply);
  if (!answer.is_object() || answer.contains("error")) {
    problem_ = answer.is_object() ? text_in(answer, "error", *reply) : *reply;
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
  precision_ = answer ? text_in(*answer, "precision", "") : "";
  return answer.has_value();
}

std::optional<double> Peer::slice(const std::string& variant, bool cold, int threads, double seconds) {
  const Json request = {{"do", "slice"}, {"variant", variant}, {"cold", cold}, {"threads", threads}, {"seconds", seconds}};
  const auto answer = ask(request.dump(), 300);
  if (!answer) return std::nullopt;
  const Json* measured = answer->find("seconds");
  return measured && measured->is_number() ? measured->number() : 0;
}

}  // namespace addnorm::bench
