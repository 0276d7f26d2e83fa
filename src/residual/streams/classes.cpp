#include "residual/streams/classes.h"

#include <array>

namespace addnorm {

UnitNorms::UnitNorms(const NormKindOptions& norm, const StackShape& shape, std::size_t each) : shape_(shape), each_(each) {
  for (std::size_t i = 0; i < shape.units() * each; ++i) norms_.emplace_back(norm, shape.width);  // copies would share parameters
}

void UnitNorms::visit(Visitor& visitor) {
  for (std::size_t i = 0; i < norms_.size(); ++i) {
    const Unit unit = shape_.unit(i / each_);
    const std::string name = each_ == 1 ? "norm" : concat("norm.", i % each_);
    visitor.child(concat(path_of(shape_, unit), ".", name), norms_[i], {.layer = unit.layer, .sub_layer = unit.sub_layer});
  }
}

namespace {

struct NamedClass {
  const char* name;
  ResidualFactory make;
};
constexpr std::array kClasses{
    NamedClass{"b2t", make_b2t},
    NamedClass{"denseformer", make_denseformer},
    NamedClass{"dlcl-post", make_dlcl_post},
    NamedClass{"dlcl-pre", make_dlcl_pre},
    NamedClass{"parallel", make_parallel},
    NamedClass{"parallel-2ln", make_parallel_2ln},
    NamedClass{"resi-dual", make_resi_dual},
    NamedClass{"rskip", make_rskip},
};

}  // namespace

ResidualFactory class_named(const std::string& name) {
  for (const NamedClass& one : kClasses)
    if (one.name == name) return one.make;
  return nullptr;
}

}  // namespace addnorm
