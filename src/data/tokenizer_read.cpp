// tokenizer.json, vocab.json and merges.txt: what they say is checked here, before anything is made from it.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "addnorm/core/error.h"
#include "addnorm/data/tokenizer.h"
#include "core/file.h"
#include "data/tokenizer_builtin.h"
#include "data/tokenizer_json.h"
#include "data/tokenizer_llama2c.h"
#include "data/tokenizer_pipeline.h"
#include "data/tokenizer_spec.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;
using Tree = JsonPlace::Tree;
using Ids = std::unordered_map<std::string_view, std::int32_t>;  // names what a TokenizerSpec holds

constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;
constexpr std::uint64_t kLargestId = 0x7FFFFFFF;
constexpr int kDeepest = 32;

std::string text_of(const fs::path& path) {
  const InputFile file(path);
  if (file.size() > kLargestFile)
    throw DataError(concat(path.string(), ": ", file.size(), " bytes; the files of a tokenizer have at most ", kLargestFile));
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, text.data(), text.size());
  if (text.starts_with("version https://git-lfs"))
    throw DataError(
        concat(path.string(), ": this is a Git LFS pointer, not a tokenizer; fetch the real file with 'git lfs pull'"));
  return text;
}

Tree parsed(const std::string& text, std::string_view where) {
  std::vector<std::unordered_set<std::string>> keys;  // of the objects around the present place
  const auto once = [&](int depth, Tree::parse_event_t event, Tree& value) {
    if (depth > kDeepest) throw DataError(concat(where, ": nested deeper than ", kDeepest, " levels; no tokenizer is"));
    if (event == Tree::parse_event_t::object_start) keys.emplace_back();
    if (event == Tree::parse_event_t::object_end) keys.pop_back();
    if (event == Tree::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      throw DataError(concat(where, ": ", value.dump(), " is given twice"));
    return true;
  };
  try {
    return Tree::parse(text, once);
  } catch (const Tree::exception& error) {
    std::string_view what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    what = what.substr(std::min(what.find("] ") + 2, what.size()));
    throw DataError(concat(where, ": not JSON: ", what));
  }
}

/// Ids number the tokens. Some may be missing, but not most: tables are as long as the largest id.
void check_id(const JsonPlace& at, std::uint64_t id, std::size_t tokens) {
  const std::uint64_t most = 2 * std::uint64_t{tokens} + 1000;
  if (id > most) at.fail("has the id ", id, ", but there are only ", tokens, " tokens; ids are to be below ", most);
}

void read_vocabulary(const JsonPlace& at, std::size_t added, TokenizerSpec& spec) {
  if (!at.value().is_object()) at.wrong("it must be an object: tokens and their ids");
  if (at.value().empty()) at.fail("is empty; a tokenizer needs tokens");
  for (const auto& entry : at.value().items()) {
    if (!entry.value().is_number_unsigned() || entry.value().get<std::uint64_t>() > kLargestId)
      at.fail("gives the token ", Tree(entry.key()).dump(), " the id ", entry.value().dump(),
              "; ids are whole numbers from 0 to ", kLargestId);
    check_id(at, entry.value().get<std::uint64_t>(), at.value().size() + added);
    spec.vocabulary.emplace_back(entry.key(), entry.value().get<std::int32_t>());
  }
  std::ranges::sort(spec.vocabulary, {}, &std::pair<std::string, std::int32_t>::second);
  for (std::size_t i = 1; i < spec.vocabulary.size(); ++i)
    if (spec.vocabulary[i - 1].second == spec.vocabulary[i].second)
      at.fail("gives the id ", spec.vocabulary[i].second, " twice: to ", Tree(spec.vocabulary[i - 1].first).dump(), " and ",
              Tree(spec.vocabulary[i].first).dump());
}

Ids ids_of(const TokenizerSpec& spec) {
  Ids ids(2 * spec.vocabulary.size());
  for (const auto& [token, id] : spec.vocabulary) ids.emplace(token, id);
  return ids;
}

/// Both sides and what they give must be tokens. `place` says where the merge stands.
template <class Place>
void add_merge(std::string_view left, std::string_view right, const Ids& ids, TokenizerSpec& spec, const Place& place) {
  const auto id_of = [&](std::string_view token) {
    const auto found = ids.find(token);
    if (found == ids.end())
      throw DataError(concat(place(), ": joins '", left, "' and '", right, "', but '", token, "' is not in the vocabulary"));
    return found->second;
  };
  spec.merges.emplace_back(id_of(left), id_of(right));
  spec.merged.push_back(id_of(std::string(left).append(right)));
}

/// "a b": two tokens and one space.
std::pair<std::string_view, std::string_view> two_tokens(std::string_view line, const auto& place) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || space == 0 || space + 1 == line.size() ||
      line.find(' ', space + 1) != std::string_view::npos)
    throw DataError(concat(place(), ": is '", line.substr(0, 60), "'; it must be two tokens with a space between them"));
  return {line.substr(0, space), line.substr(space + 1)};
}

void read_merges(const JsonPlace& at, std::string_view where, TokenizerSpec& spec) {
  const Ids ids = ids_of(spec);
  const std::size_t count = at.items();
  for (std::size_t i = 0; i < count; ++i) {
    const Tree& value = at.value()[i];
    const auto place = [&] { return concat(where, ": ", at.path(), "[", i, "]"); };
    if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string()) {
      add_merge(value[0].get_ref<const std::string&>(), value[1].get_ref<const std::string&>(), ids, spec, place);
    } else if (value.is_string()) {
      const auto [left, right] = two_tokens(value.get_ref<const std::string&>(), place);
      add_merge(left, right, ids, spec, place);
    } else {
      at.item(i).wrong("it must be two tokens");
    }
  }
}

void read_bpe(const JsonPlace& at, std::string_view where, std::size_t added, TokenizerSpec& spec) {
  at.allow_only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
                 "ignore_merges", "vocab", "merges"});
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!at.text_or(name, "").empty()) at[name].wrong("supported is null");
  if (at.has("dropout") && !(at["dropout"].value().is_number() && at["dropout"].value().get<double>() == 0))
    at["dropout"].wrong("supported is null: the same text gives the same ids");
  spec.unknown = at.text_or("unk_token", "");
  spec.fuse_unknown = at.truth_or("fuse_unk", false);
  spec.byte_fallback = at.truth_or("byte_fallback", false);
  spec.ignore_merges = at.truth_or("ignore_merges", false);
  read_vocabulary(at["vocab"], added, spec);
  read_merges(at["merges"], where, spec);
}

void read_wordpiece(const JsonPlace& at, std::size_t added, TokenizerSpec& spec) {
  at.allow_only({"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
  spec.unknown = at.text_or("unk_token", "[UNK]");
  spec.prefix = at.text_or("continuing_subword_prefix", "##");
  if (at.has("max_input_chars_per_word")) spec.longest_word = at["max_input_chars_per_word"].number(1000000);
  read_vocabulary(at["vocab"], added, spec);
}

void read_added(const JsonPlace& at, TokenizerSpec& spec) {
  const Ids ids = ids_of(spec);
  std::unordered_map<std::int32_t, std::string> owners;
  for (const auto& [token, id] : spec.vocabulary) owners.emplace(id, token);
  std::unordered_set<std::string> contents;
  for (std::size_t i = 0; i < at.items(); ++i) {
    const JsonPlace item = at.item(i);
    item.allow_only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token;
    const std::uint64_t id = item["id"].number(kLargestId);
    check_id(item, id, ids.size() + at.items());
    token.id = static_cast<std::int32_t>(id);
    token.content = item["content"].text();
    if (token.content.empty()) item.fail("has no content");
    token.single_word = item.truth_or("single_word", false);
    token.lstrip = item.truth_or("lstrip", false);
    token.rstrip = item.truth_or("rstrip", false);
    token.special = item.truth_or("special", false);
    token.normalized = item.truth_or("normalized", !token.special);
    if (!contents.insert(token.content).second) item.fail("is the second with the content '", token.content, "'");
    if (const auto same = ids.find(token.content); same != ids.end() && same->second != token.id)
      item.fail("gives '", token.content, "' the id ", token.id, ", the vocabulary gives it ", same->second);
    if (const auto [owner, fresh] = owners.emplace(token.id, token.content); !fresh && owner->second != token.content)
      item.fail("gives '", token.content, "' the id ", token.id, ", which is that of '", owner->second, "'");
    spec.added.push_back(std::move(token));
  }
}

void check_unknown(const JsonPlace& model, const TokenizerSpec& spec) {
  if (spec.unknown.empty()) return;
  for (const auto& entry : spec.vocabulary)
    if (entry.first == spec.unknown) return;
  model.fail("has the unk_token '", spec.unknown, "', which is not in its vocabulary");
}

TokenizerSpec spec_of(const Tree& tree, std::string_view where) {
  const JsonPlace root(tree, where);
  root.allow_only(
      {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model"});
  const JsonPlace model = root["model"];
  TokenizerSpec spec;
  // Old files do not say it: BPE is what has merges.
  spec.model = model.text_or("type", model.has("merges") ? "BPE" : "WordPiece");
  const std::size_t added = root.has("added_tokens") ? root["added_tokens"].items() : 0;
  if (spec.model == "BPE")
    read_bpe(model, where, added, spec);
  else if (spec.model == "WordPiece")
    read_wordpiece(model, added, spec);
  else
    model["type"].wrong("supported are BPE and WordPiece");
  check_unknown(model, spec);
  if (added > 0) read_added(root["added_tokens"], spec);
  for (const auto& [name, to] : {std::pair{"normalizer", &spec.normalizer}, std::pair{"pre_tokenizer", &spec.pre_tokenizer},
                                 std::pair{"post_processor", &spec.post_processor}, std::pair{"decoder", &spec.decoder},
                                 std::pair{"padding", &spec.padding}})
    if (root.has(name)) *to = tree[name].dump();
  return spec;
}

/// GPT-2's files say nothing of the rest: byte-level, and of the tokens those are special that are called so everywhere.
TokenizerSpec gpt2_spec(const fs::path& vocabulary, const fs::path& merges) {
  TokenizerSpec spec;
  spec.model = "BPE";
  const std::string where = vocabulary.string();
  const Tree tree = parsed(text_of(vocabulary), where);
  read_vocabulary({tree, where, "the vocabulary"}, 0, spec);
  const Ids ids = ids_of(spec);
  const std::string text = text_of(merges);
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    const auto place = [&] { return concat(merges.string(), ": line ", number); };
    const auto [left, right] = two_tokens(line, place);
    add_merge(left, right, ids, spec, place);
  }
  for (const char* name : {"<|endoftext|>", "<s>", "</s>", "<pad>", "<unk>", "<mask>"})
    if (const auto found = ids.find(name); found != ids.end())
      spec.added.push_back({.id = found->second, .content = name, .lstrip = found->first == "<mask>", .special = true});
  std::ranges::sort(spec.added, {}, &AddedToken::id);
  spec.pre_tokenizer = spec.decoder = R"({"add_prefix_space":false,"trim_offsets":true,"type":"ByteLevel","use_regex":true})";
  return spec;
}

/// "gpt2_vocab.json" -> "gpt2_merges.txt"; empty: not such a name.
fs::path with_name(const fs::path& path, std::string_view ending, std::string_view other) {
  const std::string name = path.filename().string();
  if (!name.ends_with(ending)) return {};
  return path.parent_path() / (name.substr(0, name.size() - ending.size()) += other);
}

std::unique_ptr<Tokenizer> made(TokenizerSpec spec, std::string_view where) {
  if (auto ours = builtin_from(spec)) return ours;
  return pipeline_tokenizer(std::move(spec), where);
}

}  // namespace

std::unique_ptr<Tokenizer> read_tokenizer(const fs::path& path) {
  if (std::error_code error; fs::is_directory(path, error)) {
    for (const char* name : {"tokenizer.json", "vocab.json"})
      if (fs::exists(path / name, error)) return read_tokenizer(path / name);
    throw DataError(concat(path.string(), ": the folder has neither tokenizer.json nor vocab.json with merges.txt"));
  }
  if (const fs::path vocabulary = with_name(path, "merges.txt", "vocab.json"); !vocabulary.empty())
    return read_tokenizer(vocabulary);
  if (const fs::path merges = with_name(path, "vocab.json", "merges.txt"); !merges.empty())
    return made(gpt2_spec(path, merges), path.string());
  const std::string where = path.string();
  if (path.extension() == ".bin") return made(llama2c_spec(path), where);
  const Tree tree = parsed(text_of(path), where);
  if (!tree.is_object() || !tree.contains("model"))
    throw DataError(concat(
        where, ": is not a tokenizer.json: it has no field 'model'; GPT-2's files are to be called vocab.json and merges.txt"));
  return made(spec_of(tree, where), where);
}

}  // namespace addnorm
