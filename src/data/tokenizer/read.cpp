// tokenizer.json, vocab.json and merges.txt: what they say is checked here, before anything is made from it.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "addnorm/core/error.h"
#include "addnorm/data/tokenizer.h"
#include "core/file.h"
#include "data/tokenizer/builtin.h"
#include "data/tokenizer/files.h"
#include "data/tokenizer/json.h"
#include "data/tokenizer/spec.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;

std::string text_of(const fs::path& path) {
  const InputFile file(path);
  if (file.size() > kLargestFile)
    throw DataError(concat(path.string(), ": ", file.size(), " bytes; the files of a tokenizer have at most ", kLargestFile));
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, text.data(), text.size());
  refuse_lfs_pointer(path, text);
  return text;
}

/// Ids number the tokens. Some may be missing, but not most: tables are as long as the largest id.
void check_id(const JsonPlace& at, std::uint64_t id, std::size_t tokens) {
  const std::uint64_t most = 2 * std::uint64_t{tokens} + 1000;
  if (id > most) at.fail("has the id ", id, ", but there are only ", tokens, " tokens; ids are to be below ", most);
}

/// Of a vocabulary that was read: its place, and how many tokens are to be added.
void check_vocabulary(const JsonPlace& at, std::size_t added, const TokenizerSpec& spec) {
  const Vocabulary& tokens = spec.vocabulary;
  if (!at.value().is_object()) at.wrong("it must be an object: tokens and their ids");
  if (tokens.empty()) at.fail("is empty; a tokenizer needs tokens");
  check_id(at, static_cast<std::uint64_t>(tokens.back().id), tokens.size() + added);
  for (std::size_t i = 1; i < tokens.size(); ++i)
    if (tokens[i - 1].id == tokens[i].id)
      at.fail("gives the id ", tokens[i].id, " twice: to ", Json(tokens[i - 1].text).dump(), " and ",
              Json(tokens[i].text).dump());
}

void read_bpe(const JsonPlace& at, std::size_t added, TokenizerSpec& spec) {
  at.allow_only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
                 "ignore_merges", "vocab", "merges"});
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!at.text_or(name, "").empty()) at[name].wrong("supported is null");
  if (at.has("dropout") && !(at["dropout"].value().is_number() && at["dropout"].value().number() == 0))
    at["dropout"].wrong("supported is null: the same text gives the same ids");
  spec.unknown = at.text_or("unk_token", "");
  spec.fuse_unknown = at.truth_or("fuse_unk", false);
  spec.byte_fallback = at.truth_or("byte_fallback", false);
  spec.ignore_merges = at.truth_or("ignore_merges", false);
  check_vocabulary(at["vocab"], added, spec);
  at["merges"].items();  // an array: read with the vocabulary
}

void read_wordpiece(const JsonPlace& at, std::size_t added, TokenizerSpec& spec) {
  at.allow_only({"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
  spec.unknown = at.text_or("unk_token", "[UNK]");
  spec.prefix = at.text_or("continuing_subword_prefix", "##");
  if (at.has("max_input_chars_per_word")) spec.longest_word = at["max_input_chars_per_word"].number(1000000);
  check_vocabulary(at["vocab"], added, spec);
}

void read_added(const JsonPlace& at, TokenizerSpec& spec) {
  std::unordered_map<std::int32_t, std::string> owners;
  std::unordered_set<std::string> contents;
  for (std::size_t i = 0; i < at.items(); ++i) {
    const JsonPlace item = at.item(i);
    item.allow_only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token;
    const std::uint64_t id = item["id"].number(kLargestId);
    check_id(item, id, spec.vocabulary.size() + at.items());
    token.id = static_cast<std::int32_t>(id);
    token.content = item["content"].text();
    if (token.content.empty()) item.fail("has no content");
    token.single_word = item.truth_or("single_word", false);
    token.lstrip = item.truth_or("lstrip", false);
    token.rstrip = item.truth_or("rstrip", false);
    token.special = item.truth_or("special", false);
    token.normalized = item.truth_or("normalized", !token.special);
    if (!contents.insert(token.content).second) item.fail("is the second with the content '", token.content, "'");
    if (const auto same = spec.vocabulary.id_of(token.content); same && *same != token.id)
      item.fail("gives '", token.content, "' the id ", token.id, ", the vocabulary gives it ", *same);
    const auto known = spec.vocabulary.text_of(token.id);
    const std::string& owner = owners.emplace(token.id, known ? std::string(*known) : token.content).first->second;
    if (owner != token.content) item.fail("gives '", token.content, "' the id ", token.id, ", which is that of '", owner, "'");
    spec.added.push_back(std::move(token));
  }
}

void check_unknown(const JsonPlace& model, const TokenizerSpec& spec) {
  if (spec.unknown.empty() || spec.vocabulary.id_of(spec.unknown)) return;
  model.fail("has the unk_token '", spec.unknown, "', which is not in its vocabulary");
}

/// Fields sorted by name: the same part gives the same text, however its file was ordered.
Json ordered(const Json& json) {
  if (json.is_array()) {
    Json items = Json::array();
    for (const Json& item : json.array_items()) items.push_back(ordered(item));
    return items;
  }
  if (!json.is_object()) return json;
  Json::Object fields;
  for (const JsonField& field : json.items()) fields.push_back({field.key, ordered(field.value)});
  std::ranges::sort(fields, {}, &JsonField::key);
  return fields;
}

TokenizerSpec tokenizer_spec(const std::string& text, std::string_view where) {
  TokenizerSpec spec;
  const Json tree = read_tokenizer_text(text, where, spec);
  if (!tree.contains("model"))
    throw DataError(concat(
        where, ": is not a tokenizer.json: it has no field 'model'; GPT-2's files are to be called vocab.json and merges.txt"));
  const JsonPlace root(tree, where);
  root.allow_only(
      {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model"});
  const JsonPlace model = root["model"];
  // Old files do not say it: BPE is what has merges.
  spec.model = model.text_or("type", model.has("merges") ? "BPE" : "WordPiece");
  const std::size_t added = root.has("added_tokens") ? root["added_tokens"].items() : 0;
  if (spec.model == "BPE")
    read_bpe(model, added, spec);
  else if (spec.model == "WordPiece")
    read_wordpiece(model, added, spec);
  else
    model["type"].wrong("supported are BPE and WordPiece");
  check_unknown(model, spec);
  if (added > 0) read_added(root["added_tokens"], spec);
  for (const auto& [name, to] : {std::pair{"normalizer", &spec.normalizer}, std::pair{"pre_tokenizer", &spec.pre_tokenizer},
                                 std::pair{"post_processor", &spec.post_processor}, std::pair{"decoder", &spec.decoder},
                                 std::pair{"padding", &spec.padding}})
    if (root.has(name)) *to = ordered(tree[name]).dump();
  return spec;
}

/// GPT-2's files do not give the rest: it is byte-level, and tokens with the usual names of special tokens are special.
TokenizerSpec gpt2_spec(const fs::path& vocabulary, const fs::path& merges) {
  TokenizerSpec spec;
  spec.model = "BPE";
  const std::string where = vocabulary.string();
  constexpr const char* kPath = "the vocabulary";
  const Json tree = read_vocabulary_text(text_of(vocabulary), where, kPath, spec);
  check_vocabulary({tree, where, kPath}, 0, spec);
  const std::string text = text_of(merges);
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    add_merge(line, spec, [&] { return concat(merges.string(), ": line ", number); });
  }
  for (const char* name : {"<|endoftext|>", "<s>", "</s>", "<pad>", "<unk>", "<mask>"})
    if (const auto id = spec.vocabulary.id_of(name))
      spec.added.push_back({.id = *id, .content = name, .lstrip = std::string_view(name) == "<mask>", .special = true});
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
  if (is_folder(path)) {
    for (const char* name : {"tokenizer.json", "vocab.json"})
      if (is_there(path / name)) return read_tokenizer(path / name);
    throw DataError(concat(path.string(), ": the folder has neither tokenizer.json nor vocab.json with merges.txt"));
  }
  if (const fs::path vocabulary = with_name(path, "merges.txt", "vocab.json"); !vocabulary.empty())
    return read_tokenizer(vocabulary);
  if (const fs::path merges = with_name(path, "vocab.json", "merges.txt"); !merges.empty())
    return made(gpt2_spec(path, merges), path.string());
  const std::string where = path.string();
  if (path.extension() == ".bin") return made(llama2c_spec(path), where);
  return made(tokenizer_spec(text_of(path), where), where);
}

}  // namespace addnorm
