#include "kernels/elementwise/embedding.h"

#include <vector>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/tape.h"
#include "autograd/check.h"

namespace addnorm {

Var embedding(const Var& table, std::span<const std::int32_t> ids) {
  detail::require_defined("embedding", "table", table);
  require(table.shape().rank() == 2, "embedding: table is ", table.shape(), "; [vocabulary, width] is needed");
  const std::size_t vocabulary = table.shape()[0], width = table.shape()[1];
  require(vocabulary > 0 || ids.empty(), "embedding: ", ids.size(), " ids given, and table ", table.shape(), " has no rows");
  for (std::size_t i = 0; i < ids.size(); ++i)
    require(ids[i] >= 0 && static_cast<std::size_t>(ids[i]) < vocabulary, "embedding: id ", i, " is ", ids[i],
            "; the table has rows 0 to ", vocabulary - 1);

  Tensor y({ids.size(), width}, table.dtype());
  dispatch(table.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::embedding(table.data<T>(), ids.data(), ids.size(), width, y.data<T>());
  });

  return record("embedding", {table}, std::move(y),
                [ids = std::vector(ids.begin(), ids.end()), shape = table.shape()](const Tensor& dy, Grads& grads) {
                  if (!grads.wanted(0)) return;
                  Tensor dtable(shape, dy.dtype());
                  dispatch(dy.dtype(), [&](auto zero) {
                    using T = decltype(zero);
                    kernels::embedding_grad(dy.data<T>(), ids.data(), ids.size(), shape[1], shape[0], dtable.data<T>());
                  });
                  grads.give(0, std::move(dtable));
                });
}

}  // namespace addnorm
