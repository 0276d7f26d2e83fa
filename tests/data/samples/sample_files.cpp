// Files with one sample on each line.
#include "addnorm/data/sample_files.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "data/samples/fields.h"
#include "support/data.h"
#include "support/folder.h"
#include "support/near.h"

namespace addnorm {
namespace {

using test::TemporaryFolder;
using test::throws_saying;
using Ids = std::vector<std::int32_t>;

std::unique_ptr<Tokenizer> bytes() { return byte_tokenizer({.begin_end = true}); }

/// Sample i of a batch, decoded.
std::string source_of(const Batch& batch, std::size_t i) {
  const std::size_t length = batch.ids.size() / batch.sequences;
  return bytes()->decode(std::span(batch.ids).subspan(i * length, batch.lengths.empty() ? length : batch.lengths[i]));
}
std::string target_of(const Batch& batch, std::size_t i) {
  const std::size_t length = batch.labels.size() / batch.sequences;
  Ids labels;
  for (const std::int32_t label : std::span(batch.labels).subspan(i * length, length))
    if (label != kIgnoredLabel) labels.push_back(label);
  return bytes()->decode(labels);
}
/// All of one epoch, in its order.
std::vector<std::string> sources(const Dataset& data, std::uint64_t epoch = 0) {
  std::vector<std::string> found;
  for (std::uint64_t i = 0; i < data.size(); ++i) found.push_back(source_of(data.batch(epoch * data.size() + i, 1), 0));
  return found;
}
template <class T>
std::vector<T> sorted(std::vector<T> values) {
  std::ranges::sort(values);
  return values;
}

std::string numbered_pairs(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += concat("s", i, "\tt", i, "\n");
  return text;
}

TEST(PairFile, IsReadWhateverItsLineEndsMarkAndEmptyLines) {
  const TemporaryFolder folder;
  for (const std::string text : {"ab\tc\nd\tefg\n", "ab\tc\r\nd\tefg\r\n",
                                 "\xEF\xBB\xBF"
                                 "ab\tc\n\n\nd\tefg",
                                 "\r\nab\tc\r\nd\tefg"}) {
    const SampleFile file = read_pairs(folder.write("pairs.tsv", text), *bytes());
    EXPECT_EQ(file.samples, 2u);
    const Batch batch = file.all->batch(0, 2);
    EXPECT_EQ(source_of(batch, 0), "ab");
    EXPECT_EQ(source_of(batch, 1), "d");
    EXPECT_EQ(target_of(batch, 0), "c");
    EXPECT_EQ(target_of(batch, 1), "efg");
    EXPECT_EQ(batch.lengths, (std::vector<std::size_t>{2, 1}));
    EXPECT_EQ(batch.target_lengths, (std::vector<std::size_t>{2, 4}));
    EXPECT_EQ(batch.target_ids, (Ids{256, 'c', 257, 257, 256, 'e', 'f', 'g'}));
    EXPECT_EQ(batch.labels, (Ids{'c', 257, kIgnoredLabel, kIgnoredLabel, 'e', 'f', 'g', 257}));
    EXPECT_EQ(batch.tokens(), 3 + 6u);  // without padding
    EXPECT_EQ(file.longest, 2u);
    EXPECT_EQ(file.longest_target, 4u);
  }
  EXPECT_EQ(read_pairs(folder.write("pairs.tsv", "\n\na\tb\n\n"), *bytes()).empty_lines, 3u);
}

TEST(PairFile, IsShownAnewByOtherOptionsWithoutBeingReadAgain) {
  const TemporaryFolder folder;
  const auto path = folder.write("p.tsv", "\nabcd\tx\n\n\nab\txyz\n" + numbered_pairs(100));
  for (const PairForm form : {PairForm::seq2seq, PairForm::lm}) {
    const SampleFile whole = read_pairs(path, *bytes(), form);
    const FileOptions others[] = {{.seq_len = 8, .seed = 7},
                                  {.seq_len = 5, .truncate = true, .validation_share = 0.5, .seed = 3}};
    for (const FileOptions& options : others) {
      const SampleFile again = shown(whole, options), read = read_pairs(path, *bytes(), form, options);
      EXPECT_EQ(again.store, whole.store);
      EXPECT_EQ(again.truncated, read.truncated);
      EXPECT_EQ(again.longest, read.longest);
      EXPECT_EQ(sources(*again.training, 2), sources(*read.training, 2));
      EXPECT_EQ(sources(*again.validation), sources(*read.validation));
      EXPECT_EQ(again.all->batch(0, 102).labels, read.all->batch(0, 102).labels);
      EXPECT_EQ(again.checksum, whole.checksum);
    }
  }
  const SampleFile whole = read_pairs(path, *bytes());
  EXPECT_GE(whole.held_bytes, 102 * 3 * sizeof(std::int32_t));
  EXPECT_TRUE(throws_saying<DataError>([&] { shown(whole, {.seq_len = 3}); }, {"p.tsv:2:", "source has 4", "takes 3"}));
  folder.write("p.tsv", "abcd\ty\n");
  EXPECT_NE(read_pairs(path, *bytes()).checksum, whole.checksum);
}

// A signal must be heard while a large file is read: see T-03 of the tool.
TEST(SampleFiles, AreNotReadFurtherThanProgressAllows) {
  const TemporaryFolder folder;
  const std::string pairs = numbered_pairs(200000);
  std::string table;
  for (int i = 0; i < 100000; ++i) table += concat(i, ",", 2 * i, i % 2 ? ",x\n" : ",y\n");
  std::string labelled;
  for (int i = 0; i < 100000; ++i) labelled += concat(i % 3, "\tsome text\n");
  folder.write("pairs", pairs);
  folder.write("labelled", labelled);
  folder.write("table", table);
  for (const double until : {0.0, 0.5, 2.0}) {
    double last = -1;
    const Progress progress = [&](double share) {
      EXPECT_GE(share, last);
      last = share;
      return share < until;
    };
    const auto whole = [&](const SampleFile& file) {
      last = -1;
      EXPECT_EQ(file.samples > 0, file.training != nullptr);
      return file.training != nullptr;
    };
    EXPECT_EQ(whole(read_pairs(folder.path / "pairs", *bytes(), PairForm::seq2seq, {}, progress)), until > 1);
    EXPECT_EQ(whole(read_labelled(folder.path / "labelled", *bytes(), {}, {}, progress)), until > 1);
    EXPECT_EQ(whole(read_table(folder.path / "table", {}, nullptr, progress)), until > 1);
  }
}

TEST(PairFile, IsSplitByTheNumbersOfItsSamples) {
  const TemporaryFolder folder;
  const SampleFile file = read_pairs(folder.write("p.tsv", numbered_pairs(1000)), *bytes());
  EXPECT_EQ(file.all->size(), 1000u);
  EXPECT_EQ(file.training->size() + file.validation->size(), 1000u);
  EXPECT_NEAR(static_cast<double>(file.validation->size()), 100, 5 * std::sqrt(90.0));
  const auto training = sources(*file.training), validation = sources(*file.validation), all = sources(*file.all);
  auto both = training;
  both.insert(both.end(), validation.begin(), validation.end());
  EXPECT_EQ(sorted(both), sorted(all));
  // Another order each epoch, the same samples; validation in order; the same again from the same file.
  EXPECT_NE(sources(*file.training, 1), training);
  EXPECT_EQ(sorted(sources(*file.training, 1)), sorted(training));
  EXPECT_EQ(sources(*file.validation, 1), validation);
  EXPECT_EQ(sources(*read_pairs(folder.path / "p.tsv", *bytes()).training), training);
  // More lines leave every sample where it was.
  const SampleFile longer = read_pairs(folder.write("q.tsv", numbered_pairs(1100)), *bytes());
  const auto later = sources(*longer.validation);
  EXPECT_TRUE(std::equal(validation.begin(), validation.end(), later.begin()));
  // Neither part is empty, unless none is wanted.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SampleFile two = read_pairs(folder.write("r.tsv", numbered_pairs(2)), *bytes(), PairForm::seq2seq, {.seed = seed});
    EXPECT_EQ(two.training->size(), 1u);
    EXPECT_EQ(two.validation->size(), 1u);
  }
  EXPECT_EQ(read_pairs(folder.path / "r.tsv", *bytes(), PairForm::seq2seq, {.validation_share = 0}).validation, nullptr);
}

TEST(PairFile, BatchesAreTheSameHoweverTheyAreSplit) {
  const TemporaryFolder folder;
  const SampleFile file = read_pairs(folder.write("p.tsv", numbered_pairs(37)), *bytes());
  const Batch whole = file.training->batch(20, 40);  // over the end of an epoch
  for (std::size_t i = 0; i < 40; ++i) {
    const Batch one = file.training->batch(20 + i, 1);
    EXPECT_EQ(source_of(one, 0), source_of(whole, i));
    EXPECT_EQ(target_of(one, 0), target_of(whole, i));
  }
}

TEST(PairFile, SaysWhichLineIsWrongAndWhy) {
  const TemporaryFolder folder;
  const auto reading = [&](std::string text, FileOptions options = {}, PairForm form = PairForm::seq2seq) {
    return [path = folder.write("bad.tsv", text), options, form] { read_pairs(path, *bytes(), form, options); };
  };
  EXPECT_TRUE(
      throws_saying<DataError>(reading("a\tb\nno tab here\n"), {"bad.tsv:2:", "no tab", "'no tab here'", "source<TAB>target"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("a\tb\tc\n"), {"bad.tsv:1:", "3 columns", "cut -f1,2"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("a\tb\n\n\tb\n"), {"bad.tsv:3:", "source", "empty"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("a\t\n"), {"bad.tsv:1:", "target", "empty"}));
  EXPECT_TRUE(throws_saying<DataError>(reading(""), {"bad.tsv", "no pairs"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("\n\n"), {"bad.tsv", "no pairs"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("\x1F\x8B\x08 packed"), {"bad.tsv", "gzip", "unpack it first"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("\xFF\xFE"
                                               "a"),
                                       {"bad.tsv", "UTF-16", "iconv"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("abcd\tb\n", {.seq_len = 3}),
                                       {"bad.tsv:1:", "source has 4", "takes 3", ". truncate cuts"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("a\tbcd\n", {.seq_len = 3}), {"bad.tsv:1:", "target", "has 4", "takes 3"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("ab\tc\n", {.seq_len = 3}, PairForm::lm), {"bad.tsv:1:", "has 4", "takes 3"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("abc\td\n", {.seq_len = 3, .truncate = true}, PairForm::lm), {"none are left"}));
  EXPECT_TRUE(throws_saying<DataError>([&] { read_pairs(folder.path / "absent.tsv", *bytes()); }, {"absent.tsv"}));
  EXPECT_TRUE(throws_saying<DataError>([&] { read_pairs(folder.path, *bytes()); }, {folder.path.string()}));
  const auto path = folder.write("bad.tsv", "a\tb\na\t\xC3\xA9\n");
  EXPECT_TRUE(
      throws_saying<DataError>([&] { read_pairs(path, *char_tokenizer("ab", {.begin_end = true})); }, {"bad.tsv:2:", "U+00E9"}));
  EXPECT_TRUE(throws_saying<UsageError>([&] { read_pairs(path, *byte_tokenizer()); }, {"read_pairs", "no begin token"}));
  EXPECT_TRUE(throws_saying<UsageError>(reading("a\tb\n", {.validation_share = 1}), {"validation_share is 1"}));
}

TEST(PairFile, CutsWhatIsTooLongWhereAskedForAndTellsHowMany) {
  const TemporaryFolder folder;
  const auto path = folder.write("p.tsv", "abcd\tefgh\na\tb\nab\tcde\n");
  const SampleFile file = read_pairs(path, *bytes(), PairForm::seq2seq, {.seq_len = 3, .truncate = true});
  EXPECT_EQ(file.truncated, 2u);
  EXPECT_EQ(file.longest, 3u);
  EXPECT_EQ(file.longest_target, 3u);
  const Batch batch = file.all->batch(0, 3);
  EXPECT_EQ(source_of(batch, 0), "abc");
  EXPECT_EQ(batch.labels, (Ids{'e', 'f', 'g', 'b', 257, kIgnoredLabel, 'c', 'd', 'e'}));
  EXPECT_EQ(batch.target_ids, (Ids{256, 'e', 'f', 256, 'b', 257, 256, 'c', 'd'}));
  const SampleFile joined = read_pairs(path, *bytes(), PairForm::lm, {.seq_len = 5, .truncate = true});
  EXPECT_EQ(joined.all->batch(0, 1).ids, (Ids{'a', 'b', 'c', 'd', 256}));
  EXPECT_EQ(joined.all->batch(0, 1).labels, (Ids{kIgnoredLabel, kIgnoredLabel, kIgnoredLabel, kIgnoredLabel, 'e'}));
  EXPECT_EQ(joined.truncated, 2u);
}

TEST(PairFile, MayBeLargerThanThePieceThatIsReadAtOnce) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 3000; ++i) text += concat(std::string(700, 'x'), i, "\t", i, "\r\n");
  const SampleFile file = read_pairs(folder.write("p.tsv", text), *bytes(), PairForm::seq2seq, {.validation_share = 0});
  ASSERT_EQ(file.samples, 3000u);
  for (std::uint64_t i = 0; i < 3000; i += 101) EXPECT_EQ(target_of(file.all->batch(i, 1), 0), std::to_string(i));
  EXPECT_TRUE(throws_saying<DataError>(
      [&] { read_pairs(folder.write("one.tsv", "a\tb\n" + std::string((16 << 20) + (2 << 20), 'x')), *bytes()); },
      {"one.tsv:2:", "16 MiB"}));
}

TEST(LabelledFile, NumbersItsClassesInOrder) {
  const TemporaryFolder folder;
  const LabelledFile words = read_labelled(folder.write("l.tsv", "pos\tgood\n neg \tbad\tindeed\npos\tfine\n"), *bytes());
  EXPECT_EQ(words.classes, (std::vector<std::string>{"neg", "pos"}));
  const Batch batch = words.all->batch(0, 3);
  EXPECT_EQ(batch.labels, (Ids{1, 0, 1}));
  EXPECT_EQ(source_of(batch, 1), "bad\tindeed");
  EXPECT_EQ(batch.lengths, (std::vector<std::size_t>{4, 10, 4}));
  EXPECT_TRUE(words.all->batch(0, 1).lengths.empty());
  const LabelledFile numbers = read_labelled(folder.write("n.tsv", "10\ta\n9\tb\n-1\tc\n"), *bytes());
  EXPECT_EQ(numbers.classes, (std::vector<std::string>{"-1", "9", "10"}));
  EXPECT_EQ(numbers.all->batch(0, 3).labels, (Ids{2, 1, 0}));
  // Another file, with the classes of training.
  const auto path = folder.write("m.tsv", "pos\tx\n");
  EXPECT_EQ(read_labelled(path, *bytes(), {.validation_share = 0}, words.classes).all->batch(0, 1).labels, (Ids{1}));
  const LabelledFile cut = read_labelled(folder.path / "l.tsv", *bytes(), {.seq_len = 4, .truncate = true});
  EXPECT_EQ(cut.truncated, 1u);
}

TEST(LabelledFile, SaysWhichLineIsWrongAndWhy) {
  const TemporaryFolder folder;
  const auto reading = [&](std::string text, FileOptions options = {}, std::vector<std::string> classes = {}) {
    return [path = folder.write("bad.tsv", text), options, classes] { read_labelled(path, *bytes(), options, classes); };
  };
  EXPECT_TRUE(throws_saying<DataError>(reading("a\tx\nb y\n"), {"bad.tsv:2:", "no tab", "label<TAB>text"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("a\tx\n \ty\n"), {"bad.tsv:2:", "label is empty"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("a\tx\nb\t\n"), {"bad.tsv:2:", "text", "empty"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("a\tx\na\ty\n"), {"bad.tsv", "all 2 lines", "one label"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("\n"), {"bad.tsv", "nothing in it"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("a\txyz\nb\tx\n", {.seq_len = 2}), {"bad.tsv:1:", "has 3", "takes 2"}));
  EXPECT_TRUE(
      throws_saying<DataError>(reading("pso\tx\n", {}, {"neg", "pos"}), {"bad.tsv:1:", "'pso'", "did you mean pos", "neg"}));
  EXPECT_TRUE(throws_saying<UsageError>(reading("a\tx\n", {}, {"a", "b", "a"}), {"read_labelled", "'a'", "twice"}));
}

TEST(TableFile, TakesHeadersDelimitersAndQuotes) {
  const TemporaryFolder folder;
  const std::vector<std::string> texts = {
      "1,2,x\n3,4,y\n5,7,x\n",
      "\xEF\xBB\xBF"
      "one;two;kind\r\n1;2;x\r\n\r\n3;4;y\r\n5;7;x",
      "one\ttwo\tkind\n1\t2\tx\n3\t4\ty\n5\t7\tx\n",
      "\"one\",\"two\",\"kind\"\n\"1\", 2 ,x\n+3,\"4\",\"y\"\n5e0,7.0,\"x\"\n",
  };
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    const TableFile file = read_table(folder.write("t.csv", text), {.standardise = false});
    const Batch batch = file.all->batch(0, 3);
    EXPECT_EQ(batch.features, (std::vector<float>{1, 2, 3, 4, 5, 7}));
    EXPECT_EQ(batch.labels, (Ids{0, 1, 0}));
    EXPECT_EQ(file.record.classes, (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(file.record.label_column, 3u);
    if (text[0] != '1') {
      EXPECT_EQ(file.record.features, (std::vector<std::string>{"one", "two"}));
      EXPECT_EQ(file.record.label, "kind");
    }
  }
}

TEST(TableFile, FindsTheLabelByNameOrNumber) {
  const TemporaryFolder folder;
  const auto named = folder.write("t.csv", "kind,one,two\n0,1,2\n1,3,4\n0,5,6\n");
  const auto bare = folder.write("b.csv", "0,1,2\n1,3,4\n0,5,6\n");
  for (const auto& [path, label] : {std::pair{named, "kind"}, {named, "1"}, {bare, "1"}}) {
    const TableFile file = read_table(path, {.label = label, .standardise = false});
    EXPECT_EQ(file.all->batch(0, 3).features, (std::vector<float>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(file.all->batch(0, 3).labels, (Ids{0, 1, 0}));
  }
  const TableFile file = read_table(named, {.label = "kind"});
  // A table without a header has its label where training had it.
  EXPECT_EQ(read_table(bare, {.validation_share = 0}, &file.record).all->batch(0, 3).labels, (Ids{0, 1, 0}));
  EXPECT_TRUE(throws_saying<DataError>([&] { read_table(named, {.label = "kin"}); },
                                       {"t.csv:1:", "'kin'", "did you mean kind", "1 to 3"}));
  EXPECT_TRUE(throws_saying<DataError>([&] { read_table(bare, {.label = "4"}); }, {"b.csv:1:", "'4'", "1 to 3"}));
}

TEST(TableFile, IsStandardisedByItsTrainingSamples) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 200; ++i) text += concat(1000000000 + i * i % 17, ",", 5, ",", i * 0.25, ",", i % 3, "\n");
  const TableFile file = read_table(folder.write("t.csv", text));
  const auto n = static_cast<std::size_t>(file.training->size());
  EXPECT_LT(n, 200u);
  const Batch batch = file.training->batch(0, n);
  for (std::size_t j = 0; j < 3; ++j) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += batch.features[i * 3 + j];
      squares += std::pow(batch.features[i * 3 + j], 2);
    }
    const double count = static_cast<double>(n);
    EXPECT_NEAR(sum / count, 0, test::elementwise_tolerance().atol);
    EXPECT_NEAR(squares / count, j == 1 ? 0 : 1, 4 * test::elementwise_tolerance().atol);  // a constant becomes 0
  }
  EXPECT_EQ(file.record.deviation[1], 1);
  EXPECT_EQ(file.record.mean[1], 5);
  // Validation has the same scaling, and so has another file that is read with the record.
  const TableFile again = read_table(folder.write("u.csv", "1000000000,5,0,2\n1000000001,5,1,0\n"), {}, &file.record);
  const Batch other = again.all->batch(0, 2);
  EXPECT_FLOAT_EQ(other.features[2], static_cast<float>((0 - file.record.mean[2]) / file.record.deviation[2]));
  EXPECT_FLOAT_EQ(other.features[3], static_cast<float>((1000000001 - file.record.mean[0]) / file.record.deviation[0]));
  EXPECT_EQ(other.labels, (Ids{2, 0}));
  EXPECT_EQ(again.record.mean, file.record.mean);
}

TEST(TableFile, SaysWhichCellIsWrongAndWhy) {
  const TemporaryFolder folder;
  const auto reading = [&](std::string text, TableOptions options = {}, const TableRecord* record = nullptr) {
    return [path = folder.write("bad.csv", text), options, record] { read_table(path, options, record); };
  };
  EXPECT_TRUE(throws_saying<DataError>(reading("1,2,x\n3,NA,y\n"), {"bad.csv:2:", "column 2", "'NA' is not a number"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("one,two,k\n1,2,x\n3,,y\n"), {"bad.csv:3:", "column 2 (two)", "empty"}));
  EXPECT_TRUE(
      throws_saying<DataError>(reading("k,one,two\nx,1,2\ny,3,4a\n", {.label = "k"}), {"bad.csv:3:", "column 3 (two)", "'4a'"}));
  EXPECT_TRUE(
      throws_saying<DataError>(reading("1,NA,x\n3,4,y\n"), {"bad.csv:1:", "column 2", "'NA'"}));  // neither header nor numbers
  EXPECT_TRUE(throws_saying<DataError>(reading("1,nan,x\n3,4,y\n"), {"bad.csv:1:", "column 2", "'nan' is not a finite"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("1,2,x\n-inf,4,y\n"), {"bad.csv:2:", "column 1", "'-inf' is not a finite"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("1,2,x\n1e39,4,y\n"), {"bad.csv:2:", "'1e39' is not a finite"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("1;2;x\n1,5;4;y\n"), {"bad.csv:2:", "'1,5'", "decimals take a point"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("1,2,x\n3,4,5,y\n"), {"bad.csv:2:", "4 cells", "have 3"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("1,2,x\n3,\"4,y\n"), {"bad.csv:2:", "column 2", "quote has no end"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("1,2,x\n3,\"4\"5,y\n"), {"bad.csv:2:", "column 2", "'5' after"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("1,2,x\n3,4,\n"), {"bad.csv:2:", "label is empty"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("1,2,x\n3,4,x\n"), {"bad.csv", "all 2 lines", "one label"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("one,two,kind\n"), {"bad.csv", "no numbers"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("17\n18\n"), {"bad.csv:1:", "one column"}));
  std::string quantities;
  for (int i = 0; i < 12; ++i) quantities += concat(i, ",", i * 1.5, "\n");
  EXPECT_TRUE(throws_saying<DataError>(reading(quantities), {"12 different values on 12 lines", "quantity"}));
  std::string years = "2019,2020,label\n";
  for (int i = 0; i < 12; ++i) years += concat(i, ",", i * 1.5, i % 2 == 0 ? ",x\n" : ",y\n");
  EXPECT_TRUE(throws_saying<DataError>(reading(years), {"bad.csv", "line 1 has a label that no other line has", "header"}));
  EXPECT_TRUE(throws_saying<UsageError>(reading("1,2\n", {.delimiter = '|'}), {"'|'"}));
  const TableRecord record{{"one", "two"}, "kind", 3, {"x", "y"}, {0, 0}, {1, 1}};
  EXPECT_TRUE(throws_saying<DataError>(reading("1,x\n", {}, &record), {"bad.csv:1:", "1 features", "takes 2"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("two,one,kind\n1,2,x\n", {}, &record), {"feature 1 is 'two'", "'one'"}));
  EXPECT_TRUE(throws_saying<DataError>(reading("1,2,z\n", {}, &record), {"bad.csv:1:", "label 'z'", "x, y"}));
}

TEST(TableFile, SaysThatThePackedDigitsAreToBeUnpacked) {
  ADDNORM_NEEDS_DATA("tabular/digits.csv.gz");
  EXPECT_TRUE(throws_saying<DataError>([] { read_table(test::test_data() / "tabular/digits.csv.gz"); }, {"gzip", "gunzip"}));
}

}  // namespace
}  // namespace addnorm
