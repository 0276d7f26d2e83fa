// Modules own parameters. `visit` is the only way to go through them: initialisation, decay groups, checkpoints, probes and
// conversion to float64 all build on it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/autograd/ops.h"
#include "addnorm/autograd/var.h"
#include "addnorm/nn/kinds.h"

namespace addnorm {

/// Where in a stack of layers; nothing outside of one (embeddings, the final norm, the head).
struct Place {
  std::optional<std::size_t> layer{};  ///< from 0
  std::optional<SubLayer> sub_layer{};
  const char* stack = nullptr;  ///< "encoder" or "decoder" in a model that has both
};

/// Rows [first, first + rows) of a parameter that serve one role: q, k and v lie in one matrix.
struct Part {
  Role role;
  std::size_t first;
  std::size_t rows;
};

/// A parameter as the traversal shows it.
struct Parameter {
  std::string path;         ///< "layers.3.self.qkv.weight"
  Var& value;               ///< always defined
  Role role;                ///< of its first part
  std::vector<Part> parts;  ///< together all rows, in order
  Place place;
  std::size_t fan_in = 0;  ///< of a bias: columns of its matrix; 0: the last axis of the parameter itself
};

/// Goes through modules. Modules call it from `visit`; everything else uses for_each_parameter and the like.
class Visitor {
 public:
  virtual ~Visitor() = default;

  /// Var() is skipped: an optional parameter that is not there.
  /// `fan_in`: of a bias, the columns of its matrix; 0: the last axis of the parameter itself.
  void parameter(std::string_view name, Var& value, Role role, std::size_t fan_in = 0);
  void parameter(std::string_view name, Var& value, std::vector<Part> parts, std::size_t fan_in = 0);
  /// A parameter that is only multiplied with. Once pack_weights() has run there is `packed` instead, and no parameter any more.
  void matrix(std::string_view name, Var& value, PackedWeight& packed, std::vector<Part> parts);
  /// State that is saved but not learned: running statistics.
  void buffer(std::string_view name, Tensor& value);
  /// A submodule: its names are appended to `name`. An empty name adds nothing to the path.
  template <class M>
  void child(std::string_view name, M& module) {
    const Inside inside(*this, name, place_);
    module.visit(*this);
  }
  /// The same, with its place in the stack; what is not given stays as it is outside.
  template <class M>
  void child(std::string_view name, M& module, Place place) {
    const Inside inside(*this, name, place);
    module.visit(*this);
  }

 protected:
  virtual void see(Parameter& parameter) = 0;
  virtual void see_buffer(const std::string& path, Tensor& value);
  virtual void see_matrix(Var& value, PackedWeight& packed);

 private:
  class Inside {
   public:
    Inside(Visitor& visitor, std::string_view name, Place place);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Visitor& visitor_;
    std::size_t path_length_;
    Place place_;
  };
  std::string path_of(std::string_view name) const;

  std::string path_;  // "layers.3.self", or empty
  Place place_;
};

class Module {
 public:
  virtual ~Module() = default;
  /// Shows every parameter and buffer once, always in the same order.
  virtual void visit(Visitor& visitor) = 0;
};

void for_each_parameter(Module& module, const std::function<void(Parameter&)>& see);
void for_each_buffer(Module& module, const std::function<void(const std::string& path, Tensor& value)>& see);
std::size_t count_parameters(Module& module);  ///< elements in total
/// For a model that only computes from here on: every matrix of a Linear gets the form that products are fastest with, in the
/// memory it has where its rows make whole panels (PackedWeight). These parameters are gone then: they are not visited, saved
/// or trained, and a pass that records gradients is a UsageError (put NoGrad around it). What comes out differs by rounding, and
/// no longer depends on what else is in the batch. Float32 models only.
void pack_weights(Module& module);
bool is_packed(Module& module);  ///< pack_weights() has run, and there was a matrix
/// Every parameter and buffer as float32 or float64: gradient checks of whole models run in double. Gradients are dropped.
void convert(Module& module, DType dtype);

}  // namespace addnorm
