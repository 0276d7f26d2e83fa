#include "addnorm/core/error.h"

#include <utility>

#include "core/printable.h"

namespace addnorm {

Error::Error(std::string message) : std::runtime_error(printable(std::move(message), LineBreaks::kept)) {}

std::string& error_scope() {
  thread_local std::string scope;
  return scope;
}

std::string with_scope(std::string message) {
  const std::string& scope = error_scope();
  if (!scope.empty()) message.append(" (in ").append(scope).append(")");
  return message;
}

}  // namespace addnorm
