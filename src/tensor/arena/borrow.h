// Memory for what is made while much else goes: gradients of weights, which appear as activations are freed. Internal.
#pragma once

namespace addnorm {

/// While it lives, a large request on this thread whose own size class has no free block is served by a free block of a larger
/// class, before more memory is asked for; when it is returned, the block is one of its own class again. Only for what is made
/// while memory is becoming free: what lives long would otherwise keep blocks that others need again soon.
class BorrowLargerBlocks {
 public:
  BorrowLargerBlocks() { ++depth(); }
  ~BorrowLargerBlocks() { --depth(); }
  BorrowLargerBlocks(const BorrowLargerBlocks&) = delete;
  BorrowLargerBlocks& operator=(const BorrowLargerBlocks&) = delete;

  static bool allowed() { return depth() > 0; }

 private:
  static int& depth() {
    static thread_local int count = 0;
    return count;
  }
};

}  // namespace addnorm
