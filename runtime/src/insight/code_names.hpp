// code_names.hpp: the names of coroutines, by their resume functions.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "platform/symbols.hpp"

namespace tandem::inline v0::detail {

/// What a coroutine is called.
struct code_name {
  std::string function;  ///< "serve(int)"; where no name is known "program+0x1234"
  std::string file;      ///< where the function begins; "" where that is not known
  int line = 0;
};

/// The function of a coroutine, out of the symbol of its resume function; what is none of a
/// coroutine's stays. For tests by itself.
std::string coroutine_of_symbol(std::string_view symbol);

/// One thread at a time; names that were found stay.
class code_names {
 public:
  /// @throws  std::bad_alloc
  const code_name& find(const void* code);
  /// What was opened to find names is closed.
  void rest() noexcept { symbols_.reset(); }

 private:
  std::unique_ptr<platform::symbols> symbols_;
  std::unordered_map<const void*, code_name> known_;
};

}  // namespace tandem::inline v0::detail
