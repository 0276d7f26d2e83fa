#include <unistd.h>

#include "addnorm/core/error.h"
#include "bench/jobs/embed_measure.h"
#include "bench/jobs/workload.h"

namespace addnorm::bench {
namespace {

Job embed_job(const EmbedCase& c, const std::filesystem::path& folder) {
  Job job{"embed", c.name, c.shape, {false}, false, [c] {
            Workload w;
            w.name = c.name;
            w.shape = c.shape;
            w.work = embed_operations(c);
            for (const auto& text : embed_texts(c)) w.tokens += text.size();
            return w;
          }};
  job.label = c.label;
  job.embed = c;
  job.child = [c, folder, out = vectors_file(c, "addnorm")] { return embed_call(c, folder, out); };
  return job;
}

}  // namespace

std::filesystem::path vectors_file(const EmbedCase& c, const std::string& whose) {
  static const pid_t parent = getpid();  // of the bench, also in the processes it forks
  return std::filesystem::temp_directory_path() / concat("addnorm-bench-", parent, "-", c.label, "-", whose);
}

std::vector<Job> embed_jobs(const std::string& python) {
  const std::filesystem::path folder = minilm_folder(python);
  std::vector<Job> jobs;
  for (const EmbedCase& c : embed_cases()) jobs.push_back(embed_job(c, folder));
  return jobs;
}

}  // namespace addnorm::bench
