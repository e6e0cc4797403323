// thread_locals_test.cpp: how much the library has for each thread in place.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <link.h>

#include <cstddef>
#include <string_view>
#include <tandem/task.hpp>

#include "sanitized.hpp"

namespace {

/// Bytes for each thread of the program, or of a library by that name.
std::size_t bytes_for_each_thread() {
  std::size_t bytes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t /*size*/, void* sum) {
        const std::string_view name = object->dlpi_name;
        if (!name.empty() && name.find("libtandem") == name.npos) return 0;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto& part = object->dlpi_phdr[i];
          if (part.p_type == PT_TLS) *static_cast<std::size_t*>(sum) += part.p_memsz;
        }
        return 0;
      },
      &bytes);
  return bytes;
}

// A plug-in with the library inside could not be loaded: "cannot allocate memory in static TLS
// block". The system keeps some 1.5 KiB for all that is loaded later.
TEST(thread_locals, leave_room_for_others_where_a_program_loads_the_library_while_it_runs) {
  if (tandem::test::sanitized) GTEST_SKIP() << "a sanitizer has more than that for itself";
  EXPECT_LE(bytes_for_each_thread(), 768U);
}

}  // namespace
