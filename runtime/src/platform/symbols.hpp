// symbols.hpp: which function an address of code belongs to.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tandem::inline v0::platform {

/// What is known of an address; empty where nothing is.
struct code_place {
  std::string symbol;  ///< as the linker has it
  std::string file;    ///< where the function begins, by the debug information
  int line = 0;
  std::string module;         ///< path of the program or library
  std::uintptr_t offset = 0;  ///< within it
};

/// Slow: it reads files, and asks for memory. One thread at a time.
class symbols {
 public:
  symbols();
  symbols(const symbols&) = delete;
  symbols& operator=(const symbols&) = delete;
  ~symbols();

  /// @throws  std::bad_alloc
  code_place find(const void* code);

 private:
  struct session;
  std::unique_ptr<session> session_;
};

}  // namespace tandem::inline v0::platform
