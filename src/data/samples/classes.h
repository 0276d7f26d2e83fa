// Names of classes and their numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/samples/lines.h"

namespace addnorm {

/// Collects names as they come; in the end they are put in order, and provisional numbers become final ones.
class Classes {
 public:
  /// `known`: those of training, in their order; empty: every name is new. A name twice is a UsageError in the name of
  /// `function`.
  Classes(const std::vector<std::string>& known, const char* function);

  /// The provisional number of `name`. Errors name the line: an empty name, one that is not known.
  std::int32_t number(const Lines& lines, std::string_view name);
  std::size_t size() const { return names_.size(); }
  /// Puts the names in order (ascending numbers where all are whole numbers, else by bytes) and renumbers `labels`. Known ones
  /// stay as they are.
  std::vector<std::string> settle(std::vector<std::int32_t>& labels);

 private:
  bool fixed_;
  std::vector<std::string> names_;
  std::map<std::string, std::int32_t, std::less<>> numbers_;
};

}  // namespace addnorm
