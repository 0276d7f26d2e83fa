// A library of others in a child process, asked for one measured slice at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/system/child.h"

namespace addnorm::bench {

/// What a peer is to measure: a kind from torch_peer.py and its sizes.
struct PeerWork {
  std::string kind;  ///< "add_layer_norm forward", "gemm dx", ...; empty: the peer has nothing to compare with
  std::vector<std::size_t> sizes;
};

/// The interpreter that scripts/peers installed in `from` or a folder around it; empty when there is none. Only a folder of this
/// user counts, and only with the script in it: what others left further up, say in /tmp, must not be run.
std::filesystem::path installed_python(const std::filesystem::path& from);

/// What a peer runs: a script that is part of this program and gets the library's name as its argument.
struct PeerScript {
  const char* source;
  std::string library;  ///< as Python imports it: "torch"
  std::string name;     ///< for display: "PyTorch"
};
PeerScript torch_script();

/// A Python process running a script. All calls block until it answers.
/// A request that fails, or a process that dies, gives nothing; problem() says why.
class Peer {
 public:
  enum class Malloc { fast, plain };  ///< set up in the library's favour, which costs memory; or as the system has it
  /// Starts the interpreter and waits until the library is imported.
  explicit Peer(const std::string& python, Malloc malloc = Malloc::fast, PeerScript script = torch_script());
  ~Peer();

  bool alive() const { return child_.has_value(); }
  const std::string& name() const { return script_.name; }
  const std::string& version() const { return version_; }  ///< of the library
  const std::string& problem() const { return problem_; }
  bool has_mkl() const { return mkl_; }  ///< its products in f32 come from Intel's MKL, as it says
  /// In which the last warm() computed, "f32", "bf16"; empty: not said.
  const std::string& precision() const { return precision_; }
  pid_t pid() const { return child_ ? child_->pid() : -1; }

  bool prepare(const PeerWork& work, std::size_t slots);
  bool prepare(const std::string& request);  ///< in the format of the script that is run; may take minutes
  /// Runs through all slots once: compiles what is compiled, and lets malloc settle.
  bool warm(const std::string& variant, int threads);
  /// Median seconds per call over a slice.
  std::optional<double> slice(const std::string& variant, bool cold, int threads, double seconds);

 private:
  void stop();
  std::optional<Json> ask(const std::string& line, double patience);

  PeerScript script_;
  std::optional<Child> child_;
  std::string version_, problem_, precision_;
  bool mkl_ = false;
};

}  // namespace addnorm::bench
