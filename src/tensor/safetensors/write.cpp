#include <algorithm>
#include <map>
#include <set>

#include "addnorm/core/checked.h"
#include "addnorm/tensor/safetensors.h"
#include "core/checksum.h"
#include "core/file.h"
#include "core/json/json.h"
#include "core/utf8.h"
#include "tensor/safetensors/header.h"

namespace addnorm {

using safetensors::Quoted;

namespace {

// A tensor of floats keeps its buffer alive; other types are copied.
struct TensorPart {
  std::string name;
  std::string json_name;  // quotes included
  std::string_view type;
  std::size_t element_bytes = 0;
  Shape shape;
  Tensor tensor;
  std::vector<std::byte> copy;

  std::size_t bytes() const { return shape.elements() * element_bytes; }
  const void* data() const {
    if (!tensor.defined()) return copy.data();
    return dispatch(tensor.dtype(), [&](auto zero) -> const void* { return tensor.data<decltype(zero)>(); });
  }
};

/// The parts of `what` say which text this is, should it not be valid.
template <class... Parts>
std::string as_json(const std::string& text, const Parts&... what) {
  require(is_utf8(text), "safetensors: ", what..., " is not valid UTF-8");
  return Json(text).dump();
}

std::vector<std::byte> bytes_of(const void* from, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(from);
  return bytes == 0 ? std::vector<std::byte>() : std::vector<std::byte>(first, first + bytes);
}

}  // namespace

struct SafetensorsWriter::Impl {
  void add(const std::string& name, TensorPart part);
  std::string header(const std::map<std::string, std::string>& all_metadata) const;
  std::string header_with_checksums() const;
  std::vector<const TensorPart*> ordered() const;

  std::vector<TensorPart> parts;
  std::set<std::string> names;
  std::map<std::string, std::string> metadata;
  bool checksums = false;
};

void SafetensorsWriter::Impl::add(const std::string& name, TensorPart part) {
  require(name != safetensors::kMetadataKey, "safetensors: a tensor cannot be named __metadata__");
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  require(std::ranges::none_of(name, control), "safetensors: the name ", Quoted{name}, " contains control characters");
  part.name = name;
  part.json_name = as_json(name, "the name of tensor ", Quoted{name});
  require(names.insert(name).second, "safetensors: the name ", Quoted{name}, " is given twice");
  parts.push_back(std::move(part));
}

std::vector<const TensorPart*> SafetensorsWriter::Impl::ordered() const {
  std::vector<const TensorPart*> out;
  for (const TensorPart& part : parts) out.push_back(&part);
  std::ranges::stable_sort(out, std::greater{}, &TensorPart::element_bytes);
  return out;
}

// Padded with spaces to a multiple of 8, so that the data starts aligned.
std::string SafetensorsWriter::Impl::header(const std::map<std::string, std::string>& all_metadata) const {
  std::string out = "{";
  if (!all_metadata.empty()) {
    out.append("\"").append(safetensors::kMetadataKey).append("\":{");
    for (const auto& [key, value] : all_metadata)
      out.append(out.back() == '{' ? "" : ",").append(as_json(key)).append(":").append(as_json(value));
    out += '}';
  }
  std::size_t begin = 0;
  for (const TensorPart* part : ordered()) {
    const auto end = checked_add(begin, part->bytes());
    require(end.has_value(), "safetensors: all tensors together have more bytes than 64 bits can count");
    out.append(out.size() == 1 ? "" : ",")
        .append(part->json_name)
        .append(":{\"dtype\":\"")
        .append(part->type)
        .append("\",\"shape\":[");
    for (std::size_t axis = 0; axis < part->shape.rank(); ++axis)
      out.append(axis == 0 ? "" : ",").append(std::to_string(part->shape[axis]));
    out.append("],\"data_offsets\":[").append(std::to_string(begin)).append(",").append(std::to_string(*end)).append("]}");
    begin = *end;
  }
  out += '}';
  out.append((8 - out.size() % 8) % 8, ' ');
  require(out.size() <= safetensors::kMaxHeaderBytes, "safetensors: the header would have ", out.size(), " bytes, at most ",
          safetensors::kMaxHeaderBytes, " are allowed; use fewer tensors or shorter names");
  return out;
}

std::string SafetensorsWriter::Impl::header_with_checksums() const {
  std::map<std::string, std::string> summed = metadata;
  for (const TensorPart& part : parts) summed[safetensors::checksum_key(part.name)] = as_hex(checksum(part.data(), part.bytes()));
  summed[std::string(safetensors::kChecksumKey)] = as_hex(0);
  std::string text = header(summed);
  const std::string own = as_hex(checksum(text.data(), text.size()));
  return text.replace(safetensors::find_own_checksum(text), own.size(), own);
}

SafetensorsWriter::SafetensorsWriter() : impl_(std::make_unique<Impl>()) {}
SafetensorsWriter::SafetensorsWriter(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter& SafetensorsWriter::operator=(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter::~SafetensorsWriter() = default;

SafetensorsWriter::Impl& SafetensorsWriter::impl() const {
  require(impl_ != nullptr, "SafetensorsWriter: this one was moved from and has nothing left; use the one it was moved to");
  return *impl_;
}

void SafetensorsWriter::add(const std::string& name, const Tensor& tensor) {
  require(tensor.defined(), "safetensors: the tensor ", Quoted{name}, " is undefined");
  const bool f32 = tensor.dtype() == DType::f32;
  impl().add(name, {.name = {},
                    .json_name = {},
                    .type = f32 ? "F32" : "F64",
                    .element_bytes = size_of(tensor.dtype()),
                    .shape = tensor.shape(),
                    .tensor = tensor,
                    .copy = {}});
}

void SafetensorsWriter::add_i64(const std::string& name, const Shape& shape, std::span<const std::int64_t> values) {
  require(values.size() == shape.elements(), "safetensors: ", Quoted{name}, " has ", values.size(), " values for shape ", shape);
  impl().add(name, {.name = {},
                    .json_name = {},
                    .type = "I64",
                    .element_bytes = 8,
                    .shape = shape,
                    .tensor = {},
                    .copy = bytes_of(values.data(), values.size_bytes())});
}

void SafetensorsWriter::add_bool(const std::string& name, const Shape& shape, std::span<const std::uint8_t> values) {
  require(values.size() == shape.elements(), "safetensors: ", Quoted{name}, " has ", values.size(), " values for shape ", shape);
  const auto bad = std::ranges::find_if(values, [](std::uint8_t v) { return v > 1; });
  require(bad == values.end(), "safetensors: ", Quoted{name}, " has the value ", bad == values.end() ? 0 : int{*bad},
          ", BOOL is 0 or 1");
  impl().add(name, {.name = {},
                    .json_name = {},
                    .type = "BOOL",
                    .element_bytes = 1,
                    .shape = shape,
                    .tensor = {},
                    .copy = bytes_of(values.data(), values.size_bytes())});
}

void SafetensorsWriter::add_bytes(const std::string& name, std::string_view dtype, const Shape& shape,
                                  std::vector<std::byte> bytes) {
  const auto* type = std::ranges::find(safetensors::kElementTypes, dtype, &safetensors::ElementType::name);
  require(type != std::end(safetensors::kElementTypes), "safetensors: ", Quoted{name}, " is to be of type ", Quoted{dtype},
          ", which the format does not have");
  require(type->bits % 8 == 0, "safetensors: ", Quoted{name}, " is to be of type ", dtype,
          ", narrower than a byte; none is written");
  require(bytes.size() == shape.elements() * (type->bits / 8), "safetensors: ", Quoted{name}, " has ", bytes.size(),
          " bytes for ", shape, " of ", dtype);
  impl().add(name, {.name = {},
                    .json_name = {},
                    .type = type->name,
                    .element_bytes = type->bits / 8,
                    .shape = shape,
                    .tensor = {},
                    .copy = std::move(bytes)});
}

void SafetensorsWriter::set_metadata(std::string key, std::string value) {
  as_json(key, "metadata key ", Quoted{key});
  as_json(value, "the value of metadata key ", Quoted{key});
  impl().metadata[std::move(key)] = std::move(value);
}

void SafetensorsWriter::add_checksums() { impl().checksums = true; }

void SafetensorsWriter::save(const std::filesystem::path& path) const {
  const bool checksums = impl().checksums;
  const std::string header = checksums ? impl().header_with_checksums() : impl().header(impl().metadata);
  const std::uint64_t length = header.size();
  ReplacementFile file(path);
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const TensorPart* part : impl().ordered()) file.write(part->data(), part->bytes());
  if (!checksums) return file.commit();
  file.commit([](const std::filesystem::path& written) { SafetensorsReader(written).verify(); });
}

}  // namespace addnorm
