#include "residual/classes.h"

namespace addnorm {

UnitNorms::UnitNorms(const NormKindOptions& norm, const StackShape& shape, std::size_t each) : shape_(shape), each_(each) {
  for (std::size_t i = 0; i < shape.units() * each; ++i) norms_.emplace_back(norm, shape.width);  // copies would share parameters
}

void UnitNorms::visit(Visitor& visitor) {
  for (std::size_t i = 0; i < norms_.size(); ++i) {
    const Unit unit = shape_.unit(i / each_);
    const std::string name = each_ == 1 ? "norm" : concat("norm.", i % each_);
    visitor.child(concat("layers.", unit.layer, ".", unit.sub_layer, ".", name), norms_[i],
                  {.layer = unit.layer, .sub_layer = unit.sub_layer});
  }
}

}  // namespace addnorm
