// tls_fuzz.cpp: the entry of libFuzzer for TLS.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>

#include "tls_run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count);  // NOLINT
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  tandem::test::run_tls_input({bytes, count});
  return 0;
}
