#include "addnorm/nn/module.h"

#include <array>
#include <ostream>
#include <utility>

namespace addnorm {
namespace {

constexpr std::array kRoles{
    "q",    "k",      "v",    "attention_out", "ffn_in",    "ffn_gate",   "ffn_out", "token_embedding", "position_embedding",
    "head", "weight", "bias", "norm_gain",     "norm_bias", "coefficient"};
constexpr std::array kSubLayers{"self", "cross", "ffn"};

class Each final : public Visitor {
 public:
  explicit Each(const std::function<void(Parameter&)>& see) : see_(see) {}

 private:
  void see(Parameter& parameter) override { see_(parameter); }
  const std::function<void(Parameter&)>& see_;
};

class EachBuffer final : public Visitor {
 public:
  explicit EachBuffer(const std::function<void(const std::string&, Tensor&)>& see) : see_(see) {}

 private:
  void see(Parameter&) override {}
  void see_buffer(const std::string& path, Tensor& value) override { see_(path, value); }
  const std::function<void(const std::string&, Tensor&)>& see_;
};

class Packer final : public Visitor {
  void see(Parameter&) override {}
  void see_matrix(Var& value, PackedWeight& packed) override {
    if (!value.defined()) return;
    require(value.dtype() == DType::f32, "pack_weights: the model is ", value.dtype(), "; float32 is needed");
    Tensor w = value.value();
    value = Var();  // whose memory the packed form may take over then
    packed = PackedWeight(std::move(w));
  }
};

class PackedSeen final : public Visitor {
 public:
  bool any = false;

 private:
  void see(Parameter&) override {}
  void see_matrix(Var&, PackedWeight& packed) override { any = any || packed.defined(); }
};

}  // namespace

const char* name_of(Role role) { return kRoles.at(static_cast<std::size_t>(role)); }
std::ostream& operator<<(std::ostream& out, Role role) { return out << name_of(role); }
bool is_matrix(Role role) { return role < Role::bias; }
const char* name_of(SubLayer sub_layer) { return kSubLayers.at(static_cast<std::size_t>(sub_layer)); }
std::ostream& operator<<(std::ostream& out, SubLayer sub_layer) { return out << name_of(sub_layer); }

Visitor::Inside::Inside(Visitor& visitor, std::string_view name, Place place)
    : visitor_(visitor), path_length_(visitor.path_.size()), place_(visitor.place_) {
  visitor.path_ = visitor.path_of(name);
  if (place.layer) visitor.place_.layer = place.layer;
  if (place.sub_layer) visitor.place_.sub_layer = place.sub_layer;
  if (place.stack) visitor.place_.stack = place.stack;
}
Visitor::Inside::~Inside() {
  visitor_.path_.resize(path_length_);
  visitor_.place_ = place_;
}

std::string Visitor::path_of(std::string_view name) const {
  std::string path = path_;
  if (!path.empty() && !name.empty()) path += '.';
  return path.append(name);
}

void Visitor::parameter(std::string_view name, Var& value, Role role, std::size_t fan_in) {
  if (!value.defined()) return;
  parameter(name, value, {{role, 0, value.shape().rank() == 0 ? 1 : value.shape()[0]}}, fan_in);
}

void Visitor::parameter(std::string_view name, Var& value, std::vector<Part> parts, std::size_t fan_in) {
  if (!value.defined()) return;
  Parameter seen{path_of(name), value, parts.front().role, std::move(parts), place_, fan_in};
  see(seen);
}

void Visitor::matrix(std::string_view name, Var& value, PackedWeight& packed, std::vector<Part> parts) {
  parameter(name, value, std::move(parts));
  see_matrix(value, packed);
}
void Visitor::see_matrix(Var&, PackedWeight&) {}

void Visitor::buffer(std::string_view name, Tensor& value) {
  if (value.defined()) see_buffer(path_of(name), value);
}
void Visitor::see_buffer(const std::string&, Tensor&) {}

void for_each_parameter(Module& module, const std::function<void(Parameter&)>& see) {
  Each each(see);
  module.visit(each);
}

void for_each_buffer(Module& module, const std::function<void(const std::string&, Tensor&)>& see) {
  EachBuffer each(see);
  module.visit(each);
}

std::size_t count_parameters(Module& module) {
  std::size_t count = 0;
  for_each_parameter(module, [&](const Parameter& p) { count += p.value.value().elements(); });
  return count;
}

void pack_weights(Module& module) {
  Packer packer;
  module.visit(packer);
}

bool is_packed(Module& module) {
  PackedSeen seen;
  module.visit(seen);
  return seen.any;
}

void convert(Module& module, DType dtype) {
  for_each_parameter(module, [&](Parameter& p) { p.value = Var(p.value.value().to(dtype), p.value.requires_grad()); });
  for_each_buffer(module, [&](const std::string&, Tensor& value) { value = value.to(dtype); });
}

}  // namespace addnorm
