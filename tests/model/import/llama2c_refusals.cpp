// llama2.c's files whose header does not go with them.
#include <array>
#include <limits>

#include "model/import/refusals.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using test::expect_refused;
using test::Refused;

using Header = std::array<std::int32_t, 7>;  // dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, max_seq_len

constexpr Header kSmall{8, 12, 1, 2, 2, 5, 4};

/// What follows such a header, in bytes.
std::size_t bytes_after(const Header& h) {
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(h[i]); };
  const std::size_t d = size(0), kv = size(4) * (d / size(3));
  const std::size_t layer = d * (2 + 2 * d + 2 * kv + 3 * size(1));
  return sizeof(float) * (size(5) * d + size(2) * layer + d + size(6) * (d / size(3)));
}

struct Llama2cFile : Refused {
  /// The header, and so many bytes after it.
  void write(const Header& header, std::size_t bytes) const {
    std::string text(reinterpret_cast<const char*>(header.data()), sizeof header);
    text.resize(text.size() + bytes, '\0');
    test::write_text(file, text);
  }
  fs::path file = folder.path / "model.bin";
};

TEST_F(Llama2cFile, IsReadAsLongAsItsHeaderIsTrue) {
  for (const Header& header : {kSmall, Header{128, 4, 1, 2, 2, 5, 4}}) {  // the second begins with the byte of a pickle
    write(header, bytes_after(header));
    const ModelConfig config = import_model(file).model->config();
    EXPECT_EQ(config.d_model, static_cast<std::size_t>(header[0]));
    EXPECT_EQ(config.seq_len, 4u);
    EXPECT_TRUE(config.tied);
  }
  Header own_head = kSmall;
  own_head[5] = -5;  // a negative vocabulary: its head follows
  write(own_head, bytes_after(kSmall) + 5 * 8 * sizeof(float));
  EXPECT_FALSE(import_model(file).model->config().tied);
}

TEST_F(Llama2cFile, IsRefusedWhereItsHeaderSpeaksOfOtherSizes) {
  const std::size_t bytes = bytes_after(kSmall);
  for (std::size_t field = 0; field < kSmall.size(); ++field)
    for (const std::int32_t other :
         {kSmall[field] + 1, 2 * kSmall[field], kSmall[field] - 1, -kSmall[field], 0, 1 << 20, 1 << 28, (1 << 28) + 1,
          std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()}) {
      SCOPED_TRACE(concat("field ", field, ": ", other));
      Header header = kSmall;
      header[field] = other;
      write(header, bytes);
      expect_refused(file, {"model.bin: "});
    }
  // All of them at once: nothing wraps around.
  Header huge = kSmall;
  huge.fill(1 << 28);
  huge[3] = huge[4] = 1;
  write(huge, bytes);
  expect_refused(file, {"its header describes"});
}

TEST_F(Llama2cFile, SaysWhatIsWrongWithItsSizesAndDoesNotSpeakOfPickles) {
  const std::size_t bytes = bytes_after(kSmall);
  const auto expect_said = [&](const Header& header, const std::string& words) {
    write(header, bytes);
    expect_refused(file, {"no llama2.c file", words});
  };
  expect_said({0, 12, 1, 2, 2, 5, 4}, "dim is 0");
  expect_said({8, -12, 1, 2, 2, 5, 4}, "hidden_dim is -12");
  expect_said({8, 12, 0, 2, 2, 5, 4}, "n_layers is 0");
  expect_said({8, 12, 1, 3, 3, 5, 4}, "n_heads is 3; it must divide dim (8)");
  expect_said({8, 12, 1, 4, 3, 5, 4}, "n_kv_heads is 3; it must divide n_heads (4)");
  expect_said({8, 12, 1, 8, 8, 5, 4}, "heads of 1 features");
  expect_said({8, 12, 1, 2, 2, 0, 4}, "vocab_size is 0");
  expect_said({8, 12, 1, 2, 2, 5, -4}, "max_seq_len is -4");
  test::write_text(file, "abc");
  expect_refused(file, {"has 3 bytes, a llama2.c file has at least 28"});
  test::write_text(file, "");
  expect_refused(file, {"has 0 bytes, a llama2.c file has at least 28"});
  test::write_text(file, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n");
  expect_refused(file, {"Git LFS pointer"});
}

TEST_F(Llama2cFile, IsRefusedWhereItIsCutOrLongerOrOfALaterVersion) {
  const std::size_t bytes = bytes_after(kSmall);
  for (const std::size_t less : {bytes, bytes - 1, bytes / 2, std::size_t{1}}) {
    write(kSmall, bytes - less);
    expect_refused(file, {"its header describes", "truncated"});
  }
  for (const std::size_t more : {std::size_t{1}, std::size_t{160}, std::size_t{100000}}) {
    write(kSmall, bytes + more);
    expect_refused(file, {"its header describes", "another version"});
  }
  Header many = kSmall;
  many[2] = 1000000;
  write(many, bytes);
  expect_refused(file, {"its header describes 1000000 layers"});
  write({0x616b3432, 2, 1, 2, 2, 5, 4}, bytes);
  expect_refused(file, {"version 2", "version 0 is read"});
}

TEST_F(Llama2cFile, IsFoundInItsFolderWhereItIsTheOnlyOne) {
  write(kSmall, bytes_after(kSmall));
  EXPECT_EQ(import_model(folder.path).family, "llama2c");
  fs::copy_file(file, folder.path / "other.bin");
  expect_refused(folder.path, {"several llama2.c files", "model.bin", "other.bin", "name one of them"});
  EXPECT_EQ(import_model(folder.path / "other.bin").family, "llama2c");
}

}  // namespace
}  // namespace addnorm
