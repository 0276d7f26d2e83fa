#include "lab/grid/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "addnorm/core/error.h"
#include "core/file.h"

namespace addnorm {
namespace {

constexpr int kNoProgram = 127;

/// In the child, between fork and exec: only what is safe there.
[[noreturn]] void become(const char* program, char* const* arguments, int in, int out, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kNoProgram);  // it was gone before we could ask
  setpgid(0, 0);                               // Ctrl-C is for the parent, who passes it on once
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  execv(program, arguments);
  _exit(kNoProgram);
}

FileHandle opened(const std::filesystem::path& path, int flags) {
  FileHandle file(open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (file.fd() < 0) throw DataError(concat(path.native(), ": cannot be opened: ", std::strerror(errno)));
  return file;
}

}  // namespace

std::string ChildEnd::text() const {
  if (signal == SIGKILL) return concat("ended by signal 9 (", strsignal(signal), "); the machine may be out of memory");
  if (signal != 0) return concat("ended by signal ", signal, " (", strsignal(signal), ")");
  if (code == kNoProgram) return "the program could not be started";
  return concat("exit code ", code);
}

Child::Child(const std::filesystem::path& program, const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  const FileHandle in = opened("/dev/null", O_RDONLY), out = opened(log, O_WRONLY | O_CREAT | O_TRUNC);
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> texts;
  for (std::string& word : words) texts.push_back(word.data());
  texts.push_back(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw Error(concat("no process can be started: ", std::strerror(errno)));
  if (pid_ == 0) become(words[0].c_str(), texts.data(), in.fd(), out.fd(), parent);
}

Child::~Child() {
  if (pid_ < 0) return;
  kill_now();
  waitpid(pid_, nullptr, 0);
}

bool Child::ended(ChildEnd& end) {
  int status = 0;
  if (pid_ < 0 || waitpid(pid_, &status, WNOHANG) != pid_) return false;
  pid_ = -1;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return true;
}

void Child::ask_to_end() const {
  if (pid_ > 0) kill(pid_, SIGTERM);
}
void Child::kill_now() const {
  if (pid_ > 0) kill(pid_, SIGKILL);
}

}  // namespace addnorm
