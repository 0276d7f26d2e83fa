#include "addnorm/addnorm.h"
using namespace addnorm;
int main() {
  Linear layer(64, 64);  // your own F: anything from Var to Var that keeps the shape
  initialise(layer, xavier_rule, /*seed=*/1);
  const auto F = [&](const Var& u) { return gelu(layer(u)); };
  ResidualUnit post("post-ln", 64), pre("pre-ln", 64), he(relu);
  const Var x(Tensor::full({2, 10, 64}, 0.5), /*requires_grad=*/true);
  const Var y = he(pre(post(x, F), F), F);  // N(x + F(x)), then x + F(N(x)), then relu(x + F(x))
  backward(sum(y));
  return x.grad().shape() == x.shape() ? 0 : 1;
}
