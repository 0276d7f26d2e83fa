// Reads one element past the end: AddressSanitizer must say so.
#include <cstdio>
#include <vector>

int main(int argc, char**) {
  const std::vector<int> values(8, argc);
  const int* first = values.data();
  std::printf("%d\n", first[values.size() + static_cast<unsigned>(argc) - 1]);
}
