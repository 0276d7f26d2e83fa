#include "data/tokenizer/steps/regex.h"

#define ONIG_ESCAPE_UCHAR_COLLISION  // else a macro UChar, which is a type of ICU
#include <dlfcn.h>
#include <oniguruma.h>

#include <algorithm>
#include <new>
#include <string>

#include "addnorm/core/error.h"
#include "core/printable.h"
#include "core/utf8.h"

namespace addnorm {
namespace {

using Matches = std::vector<std::pair<std::size_t, std::size_t>>;

constexpr std::size_t kLongestPattern = 10000;       // those of tokenizers have a few hundred characters
constexpr std::size_t kDeepestPattern = 250;         // Oniguruma compiles recursively: thousands of levels overflow the stack
constexpr unsigned long kMostRetries = 1ul << 25;    // in the search for one match: about a second
constexpr unsigned kMostBacktrackPlaces = 1u << 24;  // 32 bytes each

/// The library is opened when the first pattern is read, into a scope of its own: it also exports the names regcomp and regexec,
/// and a program that links to it gets these in place of the C library's. Programs that read no patterns do without it.
struct Oniguruma {
  static constexpr const char* kFile = "libonig.so.5";
  void* const library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);

  template <class T>
  T* symbol(const char* name) const {
    void* const found = library != nullptr ? dlsym(library, name) : nullptr;
    if (found != nullptr) return reinterpret_cast<T*>(found);
    const char* const why = dlerror();
    throw DataError(concat("patterns of tokenizers need Oniguruma 6.9.8 or later (Debian: libonig5): ",
                           why != nullptr ? why : concat(kFile, " has no ", name)));
  }

  OnigEncoding const utf8 = symbol<OnigEncodingType>("OnigEncodingUTF8");
  const OnigSyntaxType* const syntax = symbol<OnigSyntaxType>("OnigSyntaxOniguruma");
  decltype(onig_initialize)* const initialize = symbol<decltype(onig_initialize)>("onig_initialize");
  decltype(onig_error_code_to_str)* const error_text = symbol<decltype(onig_error_code_to_str)>("onig_error_code_to_str");
  decltype(onig_new)* const compile = symbol<decltype(onig_new)>("onig_new");
  decltype(onig_free)* const free = symbol<decltype(onig_free)>("onig_free");
  decltype(onig_region_new)* const new_region = symbol<decltype(onig_region_new)>("onig_region_new");
  decltype(onig_region_free)* const free_region = symbol<decltype(onig_region_free)>("onig_region_free");
  decltype(onig_search_with_param)* const search = symbol<decltype(onig_search_with_param)>("onig_search_with_param");
  decltype(onig_new_match_param)* const new_limits = symbol<decltype(onig_new_match_param)>("onig_new_match_param");
  decltype(onig_free_match_param)* const free_limits = symbol<decltype(onig_free_match_param)>("onig_free_match_param");
  decltype(onig_initialize_match_param)* const initialize_limits =
      symbol<decltype(onig_initialize_match_param)>("onig_initialize_match_param");
  decltype(onig_set_retry_limit_in_match_of_match_param)* const set_retries_in_match =
      symbol<decltype(onig_set_retry_limit_in_match_of_match_param)>("onig_set_retry_limit_in_match_of_match_param");
  decltype(onig_set_retry_limit_in_search_of_match_param)* const set_retries_in_search =
      symbol<decltype(onig_set_retry_limit_in_search_of_match_param)>("onig_set_retry_limit_in_search_of_match_param");
  decltype(onig_set_match_stack_limit_size_of_match_param)* const set_places =
      symbol<decltype(onig_set_match_stack_limit_size_of_match_param)>("onig_set_match_stack_limit_size_of_match_param");
};
const Oniguruma& onig() {
  static const Oniguruma opened;
  return opened;
}

const OnigUChar* bytes_of(std::string_view text) { return reinterpret_cast<const OnigUChar*>(text.data()); }

std::string reason(int code, OnigErrorInfo* info = nullptr) {
  OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
  const int length = info != nullptr ? onig().error_text(text, code, info) : onig().error_text(text, code);
  return printable(std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(std::max(0, length))));
}

/// The default dialect without callouts, (*NAME) and (?{...}): no tokenizer has them, and they keep counts of their own.
OnigSyntaxType* dialect() {
  static OnigSyntaxType only = [] {
    OnigEncoding encodings[] = {onig().utf8};
    if (const int code = onig().initialize(encodings, 1); code != ONIG_NORMAL)
      throw DataError(concat("Oniguruma cannot be initialised: ", reason(code)));
    OnigSyntaxType syntax = *onig().syntax;
    syntax.op2 &= ~(ONIG_SYN_OP2_ASTERISK_CALLOUT_NAME | ONIG_SYN_OP2_QMARK_BRACE_CALLOUT_CONTENTS);
    return syntax;
  }();
  return &only;
}

/// Groups and character classes within one another, or a few more where a class contains brackets.
std::size_t depth_of(std::string_view pattern) {
  std::size_t depth = 0, deepest = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      ++i;
    } else if (c == '(' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ')' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

/// Oniguruma reads beyond the end of a text that is cut inside a character. So each sequence of bytes that is no character, or
/// the beginning of one, is replaced by U+FFFD. `places`: where each byte came from, and the end.
struct MadeValid {
  std::string text{};
  std::vector<std::size_t> places{};
};

MadeValid made_valid(std::string_view text) {
  MadeValid made;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = utf8_front(text.substr(i)).length;
    std::string_view character = text.substr(i, length);
    if (length == 0) {
      character = "\xEF\xBF\xBD";
      for (length = std::min<std::size_t>(3, text.size() - i); length > 1; --length)
        if (utf8_complete(text.substr(i, length)) == 0) break;
    }
    made.text += character;
    made.places.insert(made.places.end(), character.size(), i);
    i += length;
  }
  made.places.push_back(text.size());
  return made;
}

struct FreeRegion {
  void operator()(OnigRegion* region) const { onig().free_region(region, 1); }
};
struct FreeParameters {
  void operator()(OnigMatchParam* parameters) const { onig().free_limits(parameters); }
};

std::unique_ptr<OnigMatchParam, FreeParameters> limits() {
  std::unique_ptr<OnigMatchParam, FreeParameters> parameters(onig().new_limits());
  if (parameters == nullptr) throw std::bad_alloc();
  onig().initialize_limits(parameters.get());
  onig().set_retries_in_match(parameters.get(), kMostRetries);
  onig().set_retries_in_search(parameters.get(), kMostRetries);
  onig().set_places(parameters.get(), kMostBacktrackPlaces);
  return parameters;
}

}  // namespace

struct Regex::Pattern {
  regex_t* compiled = nullptr;
  std::string source;

  explicit Pattern(std::string_view pattern) : source(pattern) {
    OnigErrorInfo info{};
    const int code = onig().compile(&compiled, bytes_of(pattern), bytes_of(pattern) + pattern.size(), ONIG_OPTION_NONE,
                                    onig().utf8, dialect(), &info);
    if (code != ONIG_NORMAL) throw DataError(concat("the pattern cannot be read: ", reason(code, &info)));
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern() { onig().free(compiled); }

  [[noreturn]] void fail_empty() const {
    throw DataError(concat("the pattern '", printable(source), "' matches an empty piece of a text; that is not supported"));
  }
  [[noreturn]] void fail(int code, std::size_t bytes) const {
    const bool retries = code == ONIGERR_RETRY_LIMIT_IN_MATCH_OVER || code == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER;
    const bool places = code == ONIGERR_MATCH_STACK_LIMIT_OVER;
    const std::string why =
        retries  ? concat("one match needs more than ", kMostRetries,
                          " steps back; nested repetition, as in (a+)+, is what takes so long")
        : places ? concat("one match needs more than ", kMostBacktrackPlaces, " places to go back to; shorter texts need fewer")
                 : reason(code);
    throw DataError(concat("the pattern '", printable(source), "' cannot be matched in a text of ", bytes, " bytes: ", why));
  }

  /// In a text that is UTF-8.
  Matches matches(std::string_view text) const {
    const std::unique_ptr<OnigRegion, FreeRegion> region(onig().new_region());
    const auto parameters = limits();
    if (region == nullptr) throw std::bad_alloc();
    const OnigUChar* const begin = bytes_of(text);
    const OnigUChar* const end = begin + text.size();
    Matches found;
    for (std::size_t at = 0; at < text.size(); at = found.back().second) {
      const int code = onig().search(compiled, begin, end, begin + at, end, region.get(), ONIG_OPTION_NONE, parameters.get());
      if (code == ONIG_MISMATCH) break;
      if (code < 0) fail(code, text.size());
      const auto first = static_cast<std::size_t>(region->beg[0]), last = static_cast<std::size_t>(region->end[0]);
      if (first < at || last <= first) fail_empty();  // \K in a lookbehind may begin before
      found.emplace_back(first, last);
    }
    return found;
  }
};

Regex::Regex(std::string_view pattern) {
  if (pattern.size() > kLongestPattern) throw DataError(concat("a pattern has at most ", kLongestPattern, " bytes"));
  if (depth_of(pattern) > kDeepestPattern)
    throw DataError(concat("a pattern has at most ", kDeepestPattern, " groups and classes within one another"));
  if (!is_utf8(pattern)) throw DataError("a pattern must be UTF-8");
  pattern_ = std::make_unique<const Pattern>(pattern);
  matches("a1 B.\n-\xC3\xA9  c");  // one that matches nothing between two characters shows it here
}
Regex::Regex(Regex&&) noexcept = default;
Regex::~Regex() = default;

Matches Regex::matches(std::string_view text) const {
  if (is_utf8(text)) return pattern_->matches(text);
  const MadeValid made = made_valid(text);
  Matches found = pattern_->matches(made.text);
  for (auto& [first, end] : found) {
    first = made.places[first];
    end = made.places[end];
  }
  return found;
}

}  // namespace addnorm
