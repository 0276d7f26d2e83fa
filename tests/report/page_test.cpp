// The page around the data: what is put in stays what it is, and the policy names exactly the script that is there.
#include "report/page.h"

#include <gtest/gtest.h>

#include "addnorm/core/error.h"
#include "core/json/json.h"
#include "report/sha256.h"

namespace addnorm {
namespace {

std::string hex_of(std::string_view text) {
  std::string out;
  for (const std::uint8_t byte : sha256(text))
    out.append(1, "0123456789abcdef"[byte >> 4]).append(1, "0123456789abcdef"[byte & 15]);
  return out;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const std::size_t to = text.find(end, from + begin.size());
  return text.substr(from + begin.size(), to - from - begin.size());
}

constexpr PageFiles kSmall{
    "<p>@@TITLE@@</p>@@STYLE_HASH@@|@@SCRIPT_HASH@@<style>@@STYLE@@</style><data>@@DATA@@</data><script>@@SCRIPT@@", "p{}",
    "go()", "sha256-style", "sha256-script"};

TEST(Sha256, GivesTheDigestsOfTheStandard) {
  EXPECT_EQ(hex_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_of(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, IsRightAroundTheEndOfABlock) {  // the length takes 8 bytes of the last one
  EXPECT_EQ(hex_of(std::string(55, 'a')), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(hex_of(std::string(56, 'a')), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(hex_of(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(Base64, PadsAsTheStandardDoes) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Page, HasNoAngleBracketInItsData) {
  const std::string name = "</script><img src=x onerror=alert(1)><!--";
  const std::string json = json_for_html(Json{{"name", name}}.dump());
  EXPECT_EQ(json.find('<'), std::string::npos);
  EXPECT_EQ(parsed(json, "the page")["name"].text(), name) << "what is read is what was written";
}

TEST(Page, WritesLineEndsOfScriptsAsEscapes) {
  const std::string name = "a\u2028b\u2029c\u2027";
  const std::string json = json_for_html(Json{{"name", name}}.dump());
  EXPECT_NE(json.find("a\\u2028b\\u2029c\u2027"), std::string::npos) << json;
  EXPECT_EQ(parsed(json, "the page")["name"].text(), name);
}

TEST(Page, TakesNothingThatIsPutInForAPlaceholder) {
  const std::string page = page_of(kSmall, "@@SCRIPT@@", "\"@@STYLE@@ @@DATA@@\"");
  EXPECT_NE(page.find("<p>@@SCRIPT@@</p>"), std::string::npos) << page;
  EXPECT_NE(page.find("<data>\"@@STYLE@@ @@DATA@@\"</data>"), std::string::npos) << page;
}

TEST(Page, EscapesItsTitle) {
  EXPECT_NE(page_of(kSmall, "<b>&\"'", "0").find("<p>&lt;b&gt;&amp;&quot;&#39;</p>"), std::string::npos);
}

TEST(Page, RefusesATemplateThatIsNotItsOwn) {
  EXPECT_THROW(page_of({.frame = "@@NAME@@"}, "", ""), UsageError);
  EXPECT_THROW(page_of({.frame = "@@TITLE"}, "", ""), UsageError);
}

TEST(BuiltInPage, IsNamedByItsPolicy) {
  const std::string page = page_of(built_in_page(), "title", "{}");
  const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
  EXPECT_NE(policy.find("script-src '" + policy_hash(between(page, "<script>", "</script>")) + "'"), std::string::npos) << policy;
  EXPECT_NE(policy.find("style-src '" + policy_hash(between(page, "<style>", "</style>")) + "'"), std::string::npos) << policy;
}

TEST(BuiltInPage, HoldsNothingThatEndsItsElementsOrLeadsElsewhere) {
  const PageFiles files = built_in_page();
  EXPECT_EQ(files.script.find("</script"), std::string_view::npos);
  EXPECT_EQ(files.script.find("<!--"), std::string_view::npos);
  EXPECT_EQ(files.style.find("</style"), std::string_view::npos);
  for (const char* word : {"src=\"http", "href=\"http", "@import", "url(http"}) {
    EXPECT_EQ(files.frame.find(word), std::string_view::npos) << word;
    EXPECT_EQ(files.style.find(word), std::string_view::npos) << word;
  }
}

TEST(BuiltInPage, HasEveryClaimOfTheDocumentation) {
  const Json claims = parsed(built_in_claims(), "claims");
  EXPECT_GT(claims.size(), 100u);
  for (const Json& claim : claims.array_items()) EXPECT_TRUE(claim.contains("verdict"));
}

}  // namespace
}  // namespace addnorm
