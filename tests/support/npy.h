// Reads .npy files (NumPy format 1 and 2, little endian, C order): float32, float64, int64, int32, bool.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "addnorm/tensor/tensor.h"

namespace addnorm::test {

class Npy {
 public:
  explicit Npy(const std::filesystem::path& path) : path_(path) {
    std::ifstream in(path, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    check(file.size() >= 12 && file.compare(0, 6, "\x93NUMPY") == 0, "is not an .npy file");
    const bool first = file[6] == 1;  // format 1 has a header length of two bytes, format 2 of four
    std::uint32_t length = 0;
    std::memcpy(&length, file.data() + 8, first ? 2 : 4);
    const std::size_t begin = first ? 10 : 12;
    check(length <= file.size() - begin, "is cut off in its header");
    const std::string header = file.substr(begin, length);
    check(header.find("'fortran_order': False") != std::string::npos, "is not in C order");
    dtype_ = between(header, "'descr': '", "'");
    shape_ = parse_shape(between(header, "'shape': (", ")"));
    bytes_ = file.substr(begin + length);
  }

  const Shape& shape() const { return shape_; }
  const std::string& dtype() const { return dtype_; }  ///< "<f4", "<f8", "<i8", "<i4", "|b1"

  Tensor tensor() const {
    if (dtype_ == "<f8") return Tensor::of(shape_, std::span<const double>(values<double>()));
    check(dtype_ == "<f4", "holds " + dtype_ + ", not float32 or float64");
    return Tensor::of(shape_, std::span<const float>(values<float>()));
  }

  std::vector<std::int64_t> integers() const {
    if (dtype_ == "<i4") {
      const auto narrow = values<std::int32_t>();
      return {narrow.begin(), narrow.end()};
    }
    check(dtype_ == "<i8", "holds " + dtype_ + ", not int64 or int32");
    return values<std::int64_t>();
  }

  std::vector<std::uint8_t> bools() const {
    check(dtype_ == "|b1", "holds " + dtype_ + ", not bool");
    return values<std::uint8_t>();
  }

 private:
  void check(bool ok, const std::string& problem) const {
    if (!ok) throw DataError(concat(path_.string(), " ", problem));
  }

  std::string between(const std::string& text, const std::string& before, const std::string& after) const {
    const std::size_t begin = text.find(before);
    check(begin != std::string::npos, "has no " + before + " in its header");
    const std::size_t end = text.find(after, begin + before.size());
    check(end != std::string::npos, "has a header that does not end");
    return text.substr(begin + before.size(), end - begin - before.size());
  }

  static Shape parse_shape(const std::string& text) {
    std::vector<std::size_t> sizes;
    std::size_t at = 0;
    while ((at = text.find_first_of("0123456789", at)) != std::string::npos) {
      std::size_t used = 0;
      sizes.push_back(std::stoul(text.substr(at), &used));
      at += used;
    }
    return Shape(sizes);
  }

  template <class T>
  std::vector<T> values() const {
    check(bytes_.size() == shape_.elements() * sizeof(T), concat("has ", bytes_.size(), " bytes for shape ", shape_));
    std::vector<T> out(shape_.elements());
    if (!out.empty()) std::memcpy(out.data(), bytes_.data(), bytes_.size());
    return out;
  }

  std::filesystem::path path_;
  std::string dtype_;
  Shape shape_;
  std::string bytes_;
};

}  // namespace addnorm::test
