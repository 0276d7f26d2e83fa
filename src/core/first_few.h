// The first few of many names, for messages: "a, b, c, d, e, and 95 more". On one line, whatever they are.
#pragma once

#include <cstddef>
#include <string>

#include "addnorm/core/error.h"
#include "core/printable.h"

namespace addnorm {

class FirstFew {
 public:
  void add(const std::string& text) {
    if (++count_ <= kShown) text_.append(text_.empty() ? "" : ", ").append(printable(text));
  }
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  std::string text() const { return count_ <= kShown ? text_ : concat(text_, ", and ", count_ - kShown, " more"); }

 private:
  static constexpr std::size_t kShown = 6;
  std::string text_;
  std::size_t count_ = 0;
};

}  // namespace addnorm
