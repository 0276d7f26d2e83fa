// Unicode by ICU.
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include "addnorm/core/error.h"
#include "data/tokenizer/steps/unicode.h"

namespace addnorm {
namespace {

bool is_one_of(char32_t code, std::uint32_t categories) { return (U_GET_GC_MASK(static_cast<UChar32>(code)) & categories) != 0; }

void check(UErrorCode status, std::string_view what) {
  if (U_FAILURE(status)) throw DataError(concat(what, ": ", u_errorName(status)));
}

const icu::Normalizer2& normalizer(UnicodeForm form) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* found = nullptr;
  switch (form) {
    case UnicodeForm::nfc:
      found = icu::Normalizer2::getNFCInstance(status);
      break;
    case UnicodeForm::nfd:
      found = icu::Normalizer2::getNFDInstance(status);
      break;
    case UnicodeForm::nfkc:
      found = icu::Normalizer2::getNFKCInstance(status);
      break;
    case UnicodeForm::nfkd:
      found = icu::Normalizer2::getNFKDInstance(status);
      break;
  }
  check(status, "Unicode's normal forms");
  return *found;
}

}  // namespace

const bool kKnowsUnicode = true;

CharClass char_class_beyond_ascii(char32_t code) {
  if (code > 0x10FFFF) return CharClass::other;
  if (is_one_of(code, U_GC_L_MASK)) return CharClass::letter;
  if (is_one_of(code, U_GC_N_MASK)) return CharClass::number;
  return u_isUWhiteSpace(static_cast<UChar32>(code)) ? CharClass::space : CharClass::other;
}

bool is_mark(char32_t code) { return is_one_of(code, U_GC_M_MASK); }
bool is_nonspacing_mark(char32_t code) { return is_one_of(code, U_GC_MN_MASK); }
bool is_other(char32_t code) { return is_one_of(code, U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK | U_GC_CS_MASK); }
bool is_punctuation(char32_t code) {
  if (code < 128) return is_one_of(code, U_GC_P_MASK | U_GC_S_MASK);
  return is_one_of(code, U_GC_P_MASK);
}
bool is_word(char32_t code) {
  return is_one_of(code, U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK) || u_isUAlphabetic(static_cast<UChar32>(code)) ||
         code == 0x200C || code == 0x200D;
}

std::u32string_view lower(char32_t code, char32_t (&room)[2]) {
  room[0] = static_cast<char32_t>(u_tolower(static_cast<UChar32>(code)));
  room[1] = 0x307;
  return {room, code == 0x130 ? std::size_t{2} : std::size_t{1}};  // I with a dot: the only one that becomes two
}

void normalize(std::string& text, UnicodeForm form) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2& to = normalizer(form);
  const icu::StringPiece from(text.data(), static_cast<std::int32_t>(text.size()));
  require(text.size() <= std::size_t{1} << 30, "normalize: a text of ", text.size(), " bytes; give it in parts of at most 1 GiB");
  if (to.isNormalizedUTF8(from, status)) return;
  std::string result;
  icu::StringByteSink<std::string> sink(&result, static_cast<std::int32_t>(text.size()));
  to.normalizeUTF8(0, from, sink, nullptr, status);
  check(status, "normalize");
  text = std::move(result);
}

}  // namespace addnorm
