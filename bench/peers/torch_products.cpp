#include "bench/peers/torch_products.h"

#include <algorithm>

namespace addnorm::bench {

std::optional<ProductShares> product_shares(Peer& peer, int threads, const Effort& effort, Limits& limits) {
  const std::vector<Job> jobs = gemm_jobs();
  const std::vector<std::size_t> shape = {2048, 384, 1536};
  const auto job = std::ranges::find_if(jobs, [&](const Job& j) { return j.name == "gemm forward" && j.shape == shape; });
  if (job == jobs.end()) return std::nullopt;
  const Workload w = job->make();
  if (!peer.prepare(w.peer, w.slots)) return std::nullopt;
  const Result r = measure(w, false, threads, effort, false, limits, &peer);
  if (!r.torch) return std::nullopt;
  return ProductShares{shape, threads, r.share_of_limit / r.torch->ratio, r.share_of_limit};
}

}  // namespace addnorm::bench
