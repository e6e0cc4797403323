// main.cpp: the program of the guide's first chapter.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <tandem/run.hpp>
#include <tandem/task.hpp>

tandem::task<int> twice(int number) { co_return 2 * number; }

tandem::task<int> answer() {
  const int found = co_await twice(21);
  std::printf("the answer is %d\n", found);
  co_return found == 42 ? 0 : 1;
}

int main() { return tandem::run(answer()); }
