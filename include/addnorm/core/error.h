// Errors: three kinds, each naming where, what was given, what is allowed, and what to do.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace addnorm {

/// Base of everything the library throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something that cannot be: shapes that disagree, unknown names, values out of range.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A file or stream does not hold what it should. The message names the file and the offset, tensor or line.
class DataError : public Error {
 public:
  using Error::Error;
};

/// A computation produced NaN or infinity. The message names the op or module path and the first bad value.
class NumericsError : public Error {
 public:
  using Error::Error;
};

template <class T>
concept Streamable = requires(std::ostream& out, const T& part) {
  out << part;
};

/// All parts streamed into one string: concat("width is ", 7, ", not ", 8).
/// Constrained because the op that joins tensors along an axis has the same name (autograd/ops.h).
template <Streamable... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

/// Throws UsageError(concat(parts...)) unless ok. The message is built only on failure.
template <class... Parts>
void require(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]]
    throw UsageError(concat(parts...));
}

}  // namespace addnorm
