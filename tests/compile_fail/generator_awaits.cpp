// generator_awaits.cpp: a generator awaits nothing, and yields what it says.
// SPDX-License-Identifier: MIT
#include <string>
#include <tandem/generator.hpp>
#include <tandem/sleep.hpp>
#include <vector>

namespace {

tandem::generator<int> numbers(const std::vector<std::string>& texts) {
#if !defined(TANDEM_CONTROL) && defined(TANDEM_CASE_elements)
  co_yield tandem::elements_of(texts);
#elif !defined(TANDEM_CONTROL)
  co_await tandem::sleep_for(std::chrono::seconds(1));
#endif
  co_yield static_cast<int>(texts.size());
}

}  // namespace

int main() {
  int sum = 0;
  for (int each : numbers({})) sum += each;
  return sum;
}
