#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "addnorm/core/names.h"
#include "addnorm/tensor/safetensors.h"
#include "core/checksum.h"
#include "core/figures.h"
#include "core/file.h"
#include "tensor/half.h"
#include "tensor/safetensors/header.h"

namespace addnorm {

static_assert(std::endian::native == std::endian::little, "the format is little-endian and is read without swapping");

using safetensors::in_quotes;
using safetensors::Quoted;

namespace {

constexpr std::size_t kLengthBytes = 8;

struct OtherFormat {
  std::string_view start;
  std::string_view advice;
  bool python = false;  // PyTorch can load it
};
constexpr std::string_view kConvert =
    "convert it where PyTorch is installed: load it with torch.load, write it with safetensors.torch.save_file";
constexpr OtherFormat kOtherFormats[] = {
    {"<", "this is an HTML or XML page, not weights; the download went to a web page"},
    {"PK\x03\x04", "this is a zip archive, as PyTorch's .pt and .bin files are", true},
    {"\x80\x02", "this is a Python pickle, which can run code when loaded and is not read here", true},
    {"\x80\x03", "this is a Python pickle, which can run code when loaded and is not read here", true},
    {"\x80\x04", "this is a Python pickle, which can run code when loaded and is not read here", true},
    {"\x80\x05", "this is a Python pickle, which can run code when loaded and is not read here", true},
    {"GGUF", "this is a GGUF file of llama.cpp; take the safetensors files the model was converted from"},
    {"\x89HDF", "this is an HDF5 file"},
    {"\x93NUMPY", "this is a NumPy array file"},
    {"{", "this is JSON text (a config.json or an index?), not weights"},
};

// Only asked when the length is impossible: any eight bytes may also be the length of a good header.
std::string recognised_format(const InputFile& file) {
  std::array<char, 64> first{};
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(first.size(), file.size()));
  file.read(0, first.data(), bytes);
  const std::string_view start(first.data(), bytes);
  for (const OtherFormat& other : kOtherFormats) {
    if (!start.starts_with(other.start)) continue;
    return other.python ? concat("; ", other.advice, "; ", kConvert) : concat("; ", other.advice);
  }
  return "";
}

std::size_t header_bytes(const InputFile& file, const std::string& where) {
  refuse_lfs_pointer(file);
  if (file.size() < kLengthBytes)
    throw DataError(
        concat(where, "has ", file.size(), " bytes, a safetensors file has at least 8 and a header", recognised_format(file)));
  std::uint64_t length = 0;
  file.read(0, &length, kLengthBytes);
  if (length > safetensors::kMaxHeaderBytes)
    throw DataError(concat(where, "its first 8 bytes give a header of ", length, " bytes, at most ", safetensors::kMaxHeaderBytes,
                           " are allowed", recognised_format(file)));
  if (length > file.size() - kLengthBytes)
    throw DataError(concat(where, "its first 8 bytes give a header of ", length, " bytes, but only ", file.size() - kLengthBytes,
                           " bytes follow; it is truncated or no safetensors file", recognised_format(file)));
  return static_cast<std::size_t>(length);
}

/// The text is freed before its contents are sorted and checked.
safetensors::Table read_table(const InputFile& file, std::size_t length, const std::string& where) {
  const auto json = std::make_unique_for_overwrite<char[]>(length);
  file.read(kLengthBytes, json.get(), length);
  return safetensors::parse_table({json.get(), length}, where);
}

constexpr std::string_view kFloats[] = {"F32", "F64", "F16", "BF16"};
constexpr std::string_view kNarrowFloats[] = {"F32", "F16", "BF16"};
constexpr std::string_view kIntegers[] = {"I64", "I32", "I16", "I8", "U32", "U16", "U8"};
constexpr std::string_view kBooleans[] = {"BOOL"};

bool is_float(std::string_view type) { return std::ranges::find(kFloats, type) != std::end(kFloats); }
bool is_whole(std::string_view type) {
  return type == "BOOL" || type == "U64" || std::ranges::find(kIntegers, type) != std::end(kIntegers);
}

/// What to do with a tensor that was asked for in a way its type does not have.
std::string_view advice_for(std::string_view type) {
  if (is_float(type)) return "use read";
  if (type == "BOOL") return "use read_bool";
  if (std::ranges::find(kIntegers, type) != std::end(kIntegers)) return "use read_i64";
  if (type == "U64") return "nothing here reads it, its values may not fit in a signed number; convert it to I64";
  return "nothing here reads it; convert it to F32";
}

template <class T>
ValueCounts counts_of(std::span<const T> values) {
  ValueCounts counts;
  for (const T v : values) {
    const int kind = std::fpclassify(v);
    counts.nan += kind == FP_NAN;
    counts.infinite += kind == FP_INFINITE;
    counts.subnormal += kind == FP_SUBNORMAL;
  }
  return counts;
}

}  // namespace

struct SafetensorsReader::Impl {
  explicit Impl(const std::filesystem::path& path)
      : file(path),
        where(path.native() + ": "),
        length(header_bytes(file, where)),
        header(read_table(file, length, where), file.size() - kLengthBytes - length) {}

  std::size_t index_of(std::string_view name) const;
  std::string_view type(std::size_t i) const { return safetensors::kElementTypes[header.entry(i).type].name; }
  /// They fit in memory as far as addresses reach: the header has been checked.
  std::size_t bytes(std::size_t i) const { return static_cast<std::size_t>(header.entry(i).end - header.entry(i).begin); }
  std::uint64_t position(std::size_t i) const { return kLengthBytes + length + header.entry(i).begin; }
  [[noreturn]] void wrong_type(std::size_t i, const char* function, std::span<const std::string_view> readable) const {
    wrong_type(i, function, readable, advice_for(type(i)));
  }
  [[noreturn]] void wrong_type(std::size_t i, const char* function, std::span<const std::string_view> readable,
                               std::string_view advice) const;

  template <class T>
  void for_each_block(std::size_t i, auto&& body) const {
    for_each_block<T>(i, 0, bytes(i) / sizeof(T), body);
  }
  template <class T>
  void for_each_block(std::size_t i, std::size_t begin, std::size_t count, auto&& body) const;
  template <class T>
  std::vector<T> room_for(std::size_t i, std::size_t count) const;
  template <class T>
  std::vector<std::int64_t> read_widened(std::size_t i) const;
  void read_halves(std::size_t i, float (*widen)(std::uint16_t), std::size_t first, std::span<float> into) const;
  void verify_header() const;
  void verify_tensor(std::size_t i) const;

  InputFile file;
  std::string where;
  std::size_t length;
  safetensors::Header header;
};

std::size_t SafetensorsReader::Impl::index_of(std::string_view name) const {
  if (const auto found = header.find(name)) return *found;
  constexpr std::size_t kSearched = 10'000;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < std::min(header.size(), kSearched); ++i) known.emplace_back(header.name(i));
  const std::string nearest = nearest_name(name, known);
  refuse(where, "no tensor ", in_quotes(name), " among its ", header.size(), " tensors",
         nearest.empty() ? "; name(i) lists them" : concat("; did you mean ", in_quotes(nearest), "?"));
}

void SafetensorsReader::Impl::wrong_type(std::size_t i, const char* function, std::span<const std::string_view> readable,
                                         std::string_view advice) const {
  std::string names;
  for (const std::string_view name : readable) names.append(names.empty() ? "" : ", ").append(name);
  throw DataError(concat(where, "tensor ", in_quotes(header.name(i)), ": is ", type(i), ", not supported by ", function,
                         ", which reads ", names, "; ", advice));
}

// body(values, first) for pieces of at most 256 KiB of `count` elements after `begin`, read one after the other.
template <class T>
void SafetensorsReader::Impl::for_each_block(std::size_t i, std::size_t begin, std::size_t count, auto&& body) const {
  constexpr std::size_t kBlock = (std::size_t{256} << 10) / sizeof(T);
  std::vector<T> block(std::min(kBlock, count));
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::size_t n = std::min(kBlock, count - first);
    file.read(position(i) + (begin + first) * sizeof(T), block.data(), n * sizeof(T));
    body(std::span<const T>(block.data(), n), first);
  }
}

template <class T>
std::vector<T> SafetensorsReader::Impl::room_for(std::size_t i, std::size_t count) const {
  file.expect_same_size();
  try {
    return std::vector<T>(count);
  } catch (const std::exception&) {  // bad_alloc or length_error
    throw Error(concat(where, "tensor ", in_quotes(header.name(i)), ": out of memory: its ", count, " elements need ",
                       Bytes{static_cast<double>(count) * sizeof(T)}, ", and the system has no more"));
  }
}

template <class T>
std::vector<std::int64_t> SafetensorsReader::Impl::read_widened(std::size_t i) const {
  auto out = room_for<std::int64_t>(i, bytes(i) / sizeof(T));
  for_each_block<T>(i, [&](std::span<const T> values, std::size_t first) { std::ranges::copy(values, out.data() + first); });
  return out;
}

void SafetensorsReader::Impl::read_halves(std::size_t i, float (*widen)(std::uint16_t), std::size_t begin,
                                          std::span<float> into) const {
  for_each_block<std::uint16_t>(i, begin, into.size(), [&](std::span<const std::uint16_t> halves, std::size_t first) {
    std::ranges::transform(halves, into.data() + first, widen);
  });
}

SafetensorsReader::SafetensorsReader(const std::filesystem::path& path) : impl_(std::make_unique<Impl>(path)) {}
SafetensorsReader::SafetensorsReader(SafetensorsReader&&) noexcept = default;
SafetensorsReader& SafetensorsReader::operator=(SafetensorsReader&&) noexcept = default;
SafetensorsReader::~SafetensorsReader() = default;

const SafetensorsReader::Impl& SafetensorsReader::impl() const {
  require(impl_ != nullptr, "SafetensorsReader: this one was moved from and has nothing left; use the one it was moved to");
  return *impl_;
}

std::size_t SafetensorsReader::size() const { return impl().header.size(); }

std::string_view SafetensorsReader::name(std::size_t i) const {
  require(i < size(), impl().where, "tensor number ", i, " asked for, there are ", size());
  return impl().header.name(i);
}

bool SafetensorsReader::contains(std::string_view name) const { return impl().header.find(name).has_value(); }

SafetensorsInfo SafetensorsReader::info(std::string_view name) const {
  const std::size_t i = impl().index_of(name);
  return {.dtype = impl().type(i), .shape = impl().header.shape(i), .bytes = impl().bytes(i)};
}

std::optional<std::string> SafetensorsReader::metadata(std::string_view key) const {
  const auto found = impl().header.find_metadata(key);
  return found ? std::optional<std::string>(*found) : std::nullopt;
}

std::vector<std::pair<std::string, std::string>> SafetensorsReader::metadata() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (std::size_t i = 0; i < impl().header.metadata_size(); ++i)
    all.emplace_back(impl().header.metadata_key(i), impl().header.metadata_value(i));
  return all;
}

Tensor SafetensorsReader::read(std::string_view name) const try {
  const std::size_t i = impl().index_of(name);
  const std::string_view type = impl().type(i);
  if (!is_float(type)) impl().wrong_type(i, "read", kFloats);
  impl().file.expect_same_size();
  Tensor out(impl().header.shape(i), type == "F64" ? DType::f64 : DType::f32);
  if (type == "F16")
    impl().read_halves(i, from_f16, 0, out.values<float>());
  else if (type == "BF16")
    impl().read_halves(i, from_bf16, 0, out.values<float>());
  else
    dispatch(out.dtype(), [&](auto zero) { impl().file.read(impl().position(i), out.data<decltype(zero)>(), impl().bytes(i)); });
  return out;
} catch (const UsageError&) {
  throw;
} catch (const DataError&) {
  throw;
} catch (const Error& error) {  // out of memory: say for what
  throw Error(concat(impl().where, "tensor ", in_quotes(name), ": ", error.what()));
}

void SafetensorsReader::read_into(std::string_view name, std::size_t first, std::span<float> into) const {
  const std::size_t i = impl().index_of(name);
  const std::string_view type = impl().type(i);
  const std::size_t count = impl().header.shape(i).elements();
  require(first <= count && into.size() <= count - first, impl().where, "tensor ", Quoted{name}, ": elements ", first, " ... ",
          first + into.size(), " asked for, it has ", count);
  impl().file.expect_same_size();
  if (type == "F32")
    impl().file.read(impl().position(i) + first * sizeof(float), into.data(), into.size_bytes());
  else if (type == "F16")
    impl().read_halves(i, from_f16, first, into);
  else if (type == "BF16")
    impl().read_halves(i, from_bf16, first, into);
  else
    impl().wrong_type(i, "read_into", kNarrowFloats);
}

std::vector<std::byte> SafetensorsReader::read_bytes(std::string_view name) const {
  const std::size_t i = impl().index_of(name);
  auto out = impl().room_for<std::byte>(i, impl().bytes(i));
  impl().file.read(impl().position(i), out.data(), out.size());
  return out;
}

std::vector<std::int64_t> SafetensorsReader::read_i64(std::string_view name) const {
  const std::size_t i = impl().index_of(name);
  const std::string_view type = impl().type(i);
  if (type == "I32") return impl().read_widened<std::int32_t>(i);
  if (type == "I16") return impl().read_widened<std::int16_t>(i);
  if (type == "I8") return impl().read_widened<std::int8_t>(i);
  if (type == "U32") return impl().read_widened<std::uint32_t>(i);
  if (type == "U16") return impl().read_widened<std::uint16_t>(i);
  if (type == "U8") return impl().read_widened<std::uint8_t>(i);
  if (type != "I64") impl().wrong_type(i, "read_i64", kIntegers);
  return impl().read_widened<std::int64_t>(i);
}

std::vector<std::uint8_t> SafetensorsReader::read_bool(std::string_view name) const {
  const std::size_t i = impl().index_of(name);
  if (impl().type(i) != "BOOL") impl().wrong_type(i, "read_bool", kBooleans);
  auto out = impl().room_for<std::uint8_t>(i, impl().bytes(i));
  impl().file.read(impl().position(i), out.data(), out.size());
  const auto bad = std::ranges::find_if(out, [](std::uint8_t v) { return v > 1; });
  if (bad != out.end())
    throw DataError(concat(impl().where, "tensor ", in_quotes(name), ": element ", bad - out.begin(), " is ", int{*bad},
                           ", BOOL is 0 or 1; the file is damaged, or was ", "written by a program that stores bits there"));
  return out;
}

ValueCounts SafetensorsReader::count_values(std::string_view name) const {
  const std::size_t i = impl().index_of(name);
  const std::string_view type = impl().type(i);
  ValueCounts total;
  const auto add = [&total](const ValueCounts& part) {
    total.nan += part.nan;
    total.infinite += part.infinite;
    total.subnormal += part.subnormal;
  };
  const auto add_halves = [&](std::span<const std::uint16_t> halves, float (*widen)(std::uint16_t)) {
    std::vector<float> wide(halves.size());
    std::ranges::transform(halves, wide.begin(), widen);
    add(counts_of<float>(wide));
  };
  impl().file.expect_same_size();
  if (type == "F32")
    impl().for_each_block<float>(i, [&](std::span<const float> v, std::size_t) { add(counts_of(v)); });
  else if (type == "F64")
    impl().for_each_block<double>(i, [&](std::span<const double> v, std::size_t) { add(counts_of(v)); });
  else if (type == "F16")
    impl().for_each_block<std::uint16_t>(i, [&](std::span<const std::uint16_t> v, std::size_t) { add_halves(v, from_f16); });
  else if (type == "BF16")
    impl().for_each_block<std::uint16_t>(i, [&](std::span<const std::uint16_t> v, std::size_t) { add_halves(v, from_bf16); });
  else if (is_whole(type))
    impl().wrong_type(i, "count_values", kFloats, "integers and BOOL have no NaN to count");
  else
    impl().wrong_type(i, "count_values", kFloats);
  return total;
}

void SafetensorsReader::Impl::verify_header() const {
  const auto stored = header.find_metadata(safetensors::kChecksumKey);
  if (!stored) throw DataError(concat(where, "has no checksums; it was not written to be verified"));
  std::string text(length, '\0');
  file.read(kLengthBytes, text.data(), text.size());
  text = safetensors::without_own_checksum(std::move(text));
  const std::string found = as_hex(checksum(text.data(), text.size()));
  if (*stored != found)
    throw DataError(concat(where, "the header has the checksum ", found, ", it was written with ", in_quotes(*stored),
                           "; the file is damaged"));
}

void SafetensorsReader::Impl::verify_tensor(std::size_t i) const {
  const auto stored = header.find_metadata(safetensors::checksum_key(header.name(i)));
  if (!stored) throw DataError(concat(where, "tensor ", in_quotes(header.name(i)), " has no checksum; the others have"));
  Checksum sum;
  for_each_block<std::byte>(i, [&](std::span<const std::byte> block, std::size_t) { sum.add(block.data(), block.size()); });
  const std::string found = as_hex(sum.value());
  if (*stored != found)
    throw DataError(concat(where, "tensor ", in_quotes(header.name(i)), " has the checksum ", found, ", it was written with ",
                           in_quotes(*stored), "; the file is damaged, or was changed by a program that kept the old checksums"));
}

bool SafetensorsReader::has_checksums() const { return impl().header.find_metadata(safetensors::kChecksumKey).has_value(); }

void SafetensorsReader::verify() const {
  impl().file.expect_same_size();
  impl().verify_header();
  for (std::size_t i = 0; i < size(); ++i) impl().verify_tensor(i);
}

}  // namespace addnorm
