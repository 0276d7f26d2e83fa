// PyTorch in a child process, asked for one measured slice at a time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace addnorm::bench {

/// What a peer shall measure: a kind from torch_peer.py and its sizes.
struct PeerWork {
  std::string kind;  ///< "add_layer_norm forward", "gemm dx", ...; empty: the peer has nothing to compare with
  std::vector<std::size_t> sizes;
};

/// A Python process running torch_peer.py (embedded in this program). All calls block until it answers.
/// A request that fails, or a process that dies, gives nothing; problem() says why.
class Peer {
 public:
  /// Starts the interpreter, with malloc set up in PyTorch's favour, and waits until PyTorch is imported.
  explicit Peer(const std::string& python);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  bool alive() const { return to_ >= 0; }
  const std::string& version() const { return version_; }  ///< of PyTorch
  const std::string& problem() const { return problem_; }
  pid_t pid() const { return pid_; }

  bool prepare(const PeerWork& work, std::size_t slots);
  /// Runs through all slots once: compiles what is compiled, and lets malloc settle.
  bool warm(const std::string& variant, int threads);
  /// Median seconds per call over a slice.
  std::optional<double> slice(const std::string& variant, bool cold, int threads, double seconds);

 private:
  struct Answer;
  void start(const std::string& python);
  void stop();
  std::optional<Answer> ask(const std::string& line, double patience);
  std::optional<std::string> read_line(double patience);

  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string unread_, version_, problem_;
};

}  // namespace addnorm::bench
