// Built-in sentences, for inspecting models that come without text.
#pragma once

#include <span>
#include <string_view>

namespace addnorm {

/// Forty English sentences of several kinds: tales, news, science, instructions, letters, talk, law, numbers. Plain ASCII, 5 to
/// 40 words each, no two on the same subject.
std::span<const std::string_view> sentences();

}  // namespace addnorm
