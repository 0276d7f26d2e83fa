#include <cstdio>
#include "addnorm/addnorm.h"
using namespace addnorm;
int main() {
  LanguageModel model({.vocab = 32, .layers = 4, .d_model = 64, .heads = 4, .seq_len = 32, .arrangement = "deepnorm"});
  const std::vector<std::int32_t> text{3, 1, 4, 1, 5, 9, 2, 6}, next{1, 4, 1, 5, 9, 2, 6, 5};
  for (std::uint64_t step = 1; step <= 50; ++step) {  // gradient descent by hand
    const Var loss = cross_entropy(model({.ids = text}, {.train = true, .step = step}), next);
    backward(loss);
    for_each_parameter(model, [](Parameter& p) {
      Tensor& values = p.value.value();
      for (std::size_t i = 0; i < values.elements(); ++i) values.data<float>()[i] -= 0.05f * p.value.grad().data<float>()[i];
      p.value.clear_grad();
    });
    if (step % 10 == 0) std::printf("step %d: loss %.3f\n", static_cast<int>(step), loss.value().item());
  }
  const auto written = generate(*model.decoding(1), text, {.sampling = {.temperature = 0}, .max_tokens = 1});
  std::printf("after 3 1 4 1 5 9 2 6 comes %d\n", written[0].tokens[0]);
  return written[0].tokens[0] == 5 ? 0 : 1;
}
