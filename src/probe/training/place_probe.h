// What the full set measures of the stream at every place, in one pass: outliers, likeness of tokens, ranks, position.
#pragma once

#include "addnorm/probe/record.h"
#include "addnorm/residual/stream.h"
#include "probe/measures/measures.h"

namespace addnorm {

class PlaceProbe final : public StreamObserver {
 public:
  explicit PlaceProbe(std::vector<std::size_t> lengths) : lengths_(std::move(lengths)) {}

  void on_branch(const Unit&, const Var&) override {}
  void on_stream(const Unit* unit, const Var& x) override;
  void write_to(StackRecord& record) const;

 private:
  std::vector<std::size_t> lengths_;
  RowMask rows_;
  StackRecord seen_;
};

}  // namespace addnorm
