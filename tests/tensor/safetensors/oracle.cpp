#include "tensor/safetensors/oracle.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace addnorm::test {
namespace {

__extension__ typedef unsigned __int128 Wide;
constexpr Wide kLimit = ~std::uint64_t{0};

struct Bad {};

struct Claim {
  unsigned bits = 0;
  std::vector<std::uint64_t> shape, offsets;
};

// Recursive descent over the only JSON that is acceptable; anything else throws Bad.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::map<std::string, Claim> document() {
    std::map<std::string, Claim> claims;
    bool metadata = false;
    members([&](const std::string& name) {
      if (name == "__metadata__") {
        if (metadata) throw Bad{};
        metadata = true;
        std::map<std::string, std::string> seen;
        members([&](const std::string& key) {
          if (!seen.emplace(key, string()).second) throw Bad{};
        });
      } else {
        for (const char c : name)
          if (static_cast<unsigned char>(c) < 32 || c == 127) throw Bad{};
        const Claim claim = tensor();
        if (!claims.emplace(name, claim).second) throw Bad{};
      }
    });
    space();
    if (at_ != text_.size()) throw Bad{};
    return claims;
  }

 private:
  Claim tensor() {
    static const std::map<std::string, unsigned> kBits = {
        {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
        {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
        {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
        {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};
    Claim claim;
    std::vector<std::string> fields;
    members([&](const std::string& field) {
      fields.push_back(field);
      if (field == "dtype") {
        const auto found = kBits.find(string());
        if (found == kBits.end()) throw Bad{};
        claim.bits = found->second;
      } else if (field == "shape") {
        claim.shape = numbers();
      } else if (field == "data_offsets") {
        claim.offsets = numbers();
      } else {
        throw Bad{};
      }
    });
    std::sort(fields.begin(), fields.end());
    if (fields != std::vector<std::string>{"data_offsets", "dtype", "shape"}) throw Bad{};
    if (claim.shape.size() > 8 || claim.offsets.size() != 2) throw Bad{};
    return claim;
  }

  template <class Body>
  void members(Body body) {
    space();
    expect('{');
    space();
    if (peek() == '}') return expect('}');
    for (;;) {
      space();
      const std::string name = string();
      space();
      expect(':');
      space();
      body(name);
      space();
      if (peek() == '}') return expect('}');
      expect(',');
    }
  }

  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> out;
    expect('[');
    space();
    if (peek() == ']') {
      expect(']');
      return out;
    }
    for (;;) {
      space();
      out.push_back(number());
      space();
      if (peek() == ']') {
        expect(']');
        return out;
      }
      expect(',');
    }
  }

  std::uint64_t number() {
    std::string digits;
    while (peek() >= '0' && peek() <= '9') digits += next();
    if (digits.empty() || (digits.size() > 1 && digits[0] == '0') || digits.size() > 20) throw Bad{};
    Wide value = 0;
    for (const char c : digits) value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > kLimit) throw Bad{};
    return static_cast<std::uint64_t>(value);  // a following '.', 'e' or letter fails at the next expect()
  }

  std::string string() {
    expect('"');
    std::string out;
    for (;;) {
      const char c = next();
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"') return out;
      if (byte < 32) throw Bad{};
      if (c == '\\')
        escape(out);
      else if (byte < 128)
        out += c;
      else
        multi_byte(byte, out);
    }
  }

  void escape(std::string& out) {
    static const std::map<char, char> kShort = {{'"', '"'},  {'\\', '\\'}, {'/', '/'},  {'b', '\b'},
                                                {'f', '\f'}, {'n', '\n'},  {'r', '\r'}, {'t', '\t'}};
    const char c = next();
    if (c != 'u') {
      if (!kShort.contains(c)) throw Bad{};
      out += kShort.at(c);
      return;
    }
    std::uint32_t code = hex4();
    if (code >= 0xdc00 && code < 0xe000) throw Bad{};
    if (code >= 0xd800 && code < 0xdc00) {
      expect('\\');
      expect('u');
      const std::uint32_t low = hex4();
      if (low < 0xdc00 || low >= 0xe000) throw Bad{};
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    encode(code, out);
  }

  std::uint32_t hex4() {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = next();
      const auto digit = std::string_view("0123456789abcdef").find(static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c));
      if (digit == std::string_view::npos) throw Bad{};
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    return code;
  }

  static void encode(std::uint32_t code, std::string& out) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) return put(0xc0 | code >> 6), put(0x80 | (code & 63));
    if (code < 0x10000) return put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
    put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 63)), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
  }

  // Decodes and encodes again: overlong forms, surrogates and values above 10ffff do not survive.
  void multi_byte(unsigned char lead, std::string& out) {
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    std::string raw(1, static_cast<char>(lead));
    std::uint32_t code = lead & (0x3fu >> more);
    for (int i = 0; i < more; ++i) {
      raw += next();
      const auto byte = static_cast<unsigned char>(raw.back());
      if ((byte & 0xc0) != 0x80) throw Bad{};
      code = code << 6 | (byte & 63u);
    }
    std::string again;
    encode(code, again);
    if (again != raw || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) throw Bad{};
    out += again;
  }

  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  char peek() const {
    if (at_ >= text_.size()) throw Bad{};
    return text_[at_];
  }
  char next() {
    const char c = peek();
    ++at_;
    return c;
  }
  void expect(char wanted) {
    if (next() != wanted) throw Bad{};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void check_bytes(const Claim& claim) {
  Wide product = 1;
  for (const std::uint64_t size : claim.shape) {
    product *= size;
    if (product > kLimit) throw Bad{};
  }
  product *= claim.bits;
  if (product > kLimit || product % 8 != 0) throw Bad{};
  if (claim.offsets[1] < claim.offsets[0] || claim.offsets[1] - claim.offsets[0] != product / 8) throw Bad{};
}

// Walks from one end to the next beginning; tensors of no bytes may only stand where the walk has been.
void check_cover(const std::map<std::string, Claim>& claims, std::uint64_t data) {
  std::vector<std::uint64_t> stops{0};
  std::size_t used = 0, full = 0;
  for (const auto& [name, claim] : claims) full += claim.offsets[0] != claim.offsets[1];
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& [name, claim] : claims)
      if (claim.offsets[0] == stops.back() && claim.offsets[1] > stops.back()) {
        stops.push_back(claim.offsets[1]);
        ++used;
        moved = true;
      }
  }
  if (used != full || stops.back() != data) throw Bad{};
  for (const auto& [name, claim] : claims)
    if (claim.offsets[0] == claim.offsets[1] && std::find(stops.begin(), stops.end(), claim.offsets[0]) == stops.end())
      throw Bad{};
}

}  // namespace

bool oracle_accepts(std::string_view file) {
  try {
    if (file.size() < 8) throw Bad{};
    Wide length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length * 256 + static_cast<unsigned char>(file[i]);
    if (length > 100'000'000 || length + 8 > file.size()) throw Bad{};
    const auto claims = Reader(file.substr(8, static_cast<std::size_t>(length))).document();
    for (const auto& [name, claim] : claims) check_bytes(claim);
    check_cover(claims, file.size() - 8 - static_cast<std::size_t>(length));
    return true;
  } catch (const Bad&) {
    return false;
  }
}

}  // namespace addnorm::test
