// reader_is_a_stream.cpp: a directory is not listed by awaiting its reader, and the compiler says how it is.
// SPDX-License-Identifier: MIT
#include <tandem/io/file_operations.hpp>

tandem::task<void> list() {
#ifdef TANDEM_CONTROL
  auto reader = tandem::io::list_directory(".");
  (void)co_await reader.next();
#else
  (void)co_await tandem::io::list_directory(".");
#endif
}
