// Errors: three kinds, each naming where, what was given, what is allowed, and what to do.
#pragma once

#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>

namespace addnorm {

/// Base of everything the library throws on purpose. Messages contain names from files: control characters and invisible ones are
/// escaped (\x1b, \u202e), and so are bytes that are not UTF-8. Line breaks and tabs stay.
class Error : public std::runtime_error {
 public:
  explicit Error(std::string message);
};

/// The caller asked for something impossible: shapes that disagree, unknown names, values out of range.
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
/// Out of memory it throws, as any string does: a stream alone would ignore the failure and cut the text short.
template <Streamable... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit | std::ios::failbit);
  (out << ... << parts);
  return std::move(out).str();
}

/// Where this thread is, as the program names it ("blocks.3/attn"); empty: unknown. Set by NameScope (autograd/tape.h).
std::string& error_scope();
/// The message, followed by " (in blocks.3/attn)" inside a scope.
std::string with_scope(std::string message);

/// Throws UsageError(concat(parts...)), with the scope.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw UsageError(with_scope(concat(parts...)));
}

/// Refuses unless ok. The message is built only on failure.
template <class... Parts>
void require(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]]
    refuse(parts...);
}

/// `value` is one of an enum's values, which count from 0 and have these names.
template <class Enum>
void require_one_of(const char* function, const char* argument, Enum value, const char* type,
                    std::initializer_list<const char*> names) {
  const auto number = static_cast<long>(value);
  if (number >= 0 && number < static_cast<long>(names.size())) return;
  std::string allowed;
  std::size_t i = 0;
  for (const char* name : names) {
    const char* between = i == 0 ? "" : i + 1 < names.size() ? ", " : " and ";
    allowed += concat(between, i == 0 ? concat(type, "::") : "", name, " (", i, ")");
    ++i;
  }
  refuse(function, ": ", argument, " is ", number, "; allowed are ", allowed);
}

}  // namespace addnorm
