// A residual step with gradients: s = x + x * w and its layer norm, and where the gradients of both go.
#include <array>
#include <cstdio>

#include "addnorm/addnorm.h"

int main() {
  using namespace addnorm;
  const Var x(Tensor::of({4}, {1.0f, 2.0f, 3.0f, 4.0f}), true);
  const Var w(Tensor::of({4}, {0.5f, -1.0f, 0.0f, 1.0f}), true);
  const auto [sum, y] = add_layer_norm(x, mul(x, w), Var(), Var());
  const Tensor dy = Tensor::of({4}, {1.0f, 0.0f, 0.0f, 0.0f});
  backward(std::array{sum, y}, std::array{dy, dy});

  const auto print = [](const char* name, const Tensor& t) {
    std::printf("%-4s", name);
    for (const float v : t.values<float>()) std::printf(" %8.4f", static_cast<double>(v));
    std::printf("\n");
  };
  std::printf("addnorm %s\n", version());
  print("sum", sum.value());
  print("y", y.value());
  print("dx", x.grad());
  print("dw", w.grad());
}
