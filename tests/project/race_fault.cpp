// Two threads write one variable: ThreadSanitizer must say so.
#include <cstdio>

int main() {
  int counter = 0;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 1000; ++i) counter += i;  // the reduction clause is missing
  std::printf("%d\n", counter);
}
