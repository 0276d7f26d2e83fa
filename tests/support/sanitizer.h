// Which sanitizer the tests are built with: limits on time, memory and page faults do not hold under one.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define ADDNORM_TEST_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define ADDNORM_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDNORM_TEST_ASAN 1
#elif __has_feature(thread_sanitizer)
#define ADDNORM_TEST_TSAN 1
#endif
#endif

namespace addnorm::test {

#if defined(ADDNORM_TEST_ASAN) || defined(ADDNORM_TEST_TSAN)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace addnorm::test
