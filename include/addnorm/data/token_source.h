// TokenSource: a long sequence of token ids, in memory or in a file.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace addnorm {

/// Threads may share it.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual std::uint64_t size() const = 0;
  /// Ids first ... first + count - 1. Beyond size() is a UsageError; a file truncated meanwhile is a DataError.
  virtual void copy(std::uint64_t first, std::size_t count, std::int32_t* into) const = 0;
};

class TokenVector : public TokenSource {
 public:
  explicit TokenVector(std::vector<std::int32_t> ids) : ids_(std::move(ids)) {}
  std::uint64_t size() const override { return ids_.size(); }
  void copy(std::uint64_t first, std::size_t count, std::int32_t* into) const override;

 private:
  std::vector<std::int32_t> ids_;
};

}  // namespace addnorm
