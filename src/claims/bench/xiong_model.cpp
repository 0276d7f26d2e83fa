#include "claims/bench/xiong_model.h"

#include "addnorm/residual/catalogue.h"

namespace addnorm::lab {

std::unique_ptr<Model> xiong_model(std::string_view arrangement, std::size_t layers, std::uint64_t seed, bool real) {
  ModelConfig config = bench_model({}, arrangement, layers);
  config.scale_embedding = true;
  config.tied = false;
  if (!real) {
    config.model = ModelKind::encoder;
    config.d_ff = config.d_model;
    config.activation = Activation::relu;
    config.bias = false;
    config.positions = PositionKind::none;
    config.own_arrangement = arrangement_named(arrangement);
    config.own_arrangement->init = {.base = InitSpec::Base::xavier_normal};
    config.init = {};
  }
  std::unique_ptr<Model> model = started(config, seed);
  for (Var head : parameters_of(*model, Role::head)) head.value() = scale(head.detach(), 0.1).value();
  if (real) return model;
  for_each_parameter(*model, [](Parameter& p) {
    if (p.role != Role::q) return;  // the matrix begins with the rows of q, then k, then v
    const std::size_t width = p.value.shape().back();
    for (const Part& part : p.parts)
      if (part.role == Role::q || part.role == Role::k)
        std::ranges::fill(p.value.value().values<float>().subspan(part.first * width, part.rows * width), 0.0f);
  });
  return model;
}

}  // namespace addnorm::lab
