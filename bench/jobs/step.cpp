#include "addnorm/core/error.h"
#include "addnorm/train/run_options.h"
#include "bench/jobs/steps.h"
#include "bench/jobs/workload.h"

namespace addnorm::bench {
namespace {

std::vector<std::size_t> shape_of(const StepModel& m) { return {m.layers, m.width, m.length, m.batch}; }

PeerWork peer_work(const std::string& name, const StepModel& m) {
  return {name, {m.layers, m.width, m.heads, m.length, m.batch, m.vocab, m.post_norm ? 1u : 0u}};
}

Job train_job(const StepModel& m) {
  const std::string name = "train-step " + m.name;
  Job job{"train-step", name, shape_of(m), {false}, false, [=] {
            Workload w;
            w.name = name;
            w.shape = shape_of(m);
            w.work = step_operations(m);
            w.tokens = m.tokens();
            w.peer = peer_work(name, m);
            w.compiled = w.bf16 = true;
            return w;
          }};
  job.label = m.name;
  job.child = [=] { return train_step(m); };
  return job;
}

/// What must be read for each token: every parameter once.
Job decode_job(const StepModel& trained) {
  StepModel m = trained;
  m.batch = 1;
  const std::string name = "decode " + m.name;
  Job job{"decode", name, shape_of(m), {false}, false, [=] {
            Workload w;
            w.name = name;
            w.shape = shape_of(m);
            w.limit = Limit::read;
            w.working_set = parameters(m) * sizeof(float);
            w.work = static_cast<double>(w.working_set * m.length);
            w.tokens = m.length;
            w.peer = peer_work(name, m);
            return w;
          }};
  job.label = m.name;
  job.child = [=] { return write_sequence(m); };
  return job;
}

}  // namespace

std::vector<Job> step_jobs(const std::string& init, const FieldWords& words) {
  std::vector<StepModel> models = step_models();
  for (StepModel& m : models) {
    m.init = init;
    completed(config_of(m), words);  // an unknown rule is refused here, by name
  }
  std::vector<Job> jobs;
  for (const StepModel& m : models) jobs.push_back(train_job(m));
  jobs.push_back(decode_job(models.front()));
  return jobs;
}

}  // namespace addnorm::bench
