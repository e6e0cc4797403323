// code_names.cpp: symbols of resume functions, as both compilers make them, become names for people.
// SPDX-License-Identifier: MIT
#include "insight/code_names.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

namespace tandem::inline v0::detail {

namespace {

std::string demangled(const std::string& symbol) {
#if __has_include(<cxxabi.h>)
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (status == 0 && text != nullptr) return text.get();
#endif
  return symbol;
}

void replace_all(std::string& in, std::string_view what, std::string_view by) {
  for (std::size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + by.size()))
    in.replace(at, what.size(), by);
}

/// g++: f(f()::_Z1fv.Frame*) [clone .actor]; in the mangled name the coroutine's own stands with its
/// length in front. @returns "" if there is none
std::string of_gcc_frame(std::string_view symbol) {
  constexpr std::string_view mark = ".Frame.";  // actor, destroy
  const std::size_t end = symbol.find(mark);
  if (end == std::string_view::npos) return "";
  for (std::size_t at = symbol.rfind("_Z", end); at != std::string_view::npos && at != 0;
       at = symbol.rfind("_Z", at - 1)) {
    std::size_t digits = at;
    while (digits != 0 && symbol[digits - 1] >= '0' && symbol[digits - 1] <= '9') --digits;
    // Digits that belong to what stands before them come first: some end of them is the length.
    for (; digits != at; ++digits) {
      const std::string number(symbol.substr(digits, at - digits));
      if (std::strtoul(number.c_str(), nullptr, 10) == end + std::string_view(".Frame").size() - at)
        return std::string(symbol.substr(at, end - at));
    }
  }
  return "";
}

}  // namespace

std::string coroutine_of_symbol(std::string_view symbol) {
  std::string name = of_gcc_frame(symbol);
  if (name.empty()) {
    const std::size_t suffix = symbol.find('.');  // clang: f.resume
    name = symbol.substr(0, suffix == 0 ? std::string_view::npos : suffix);
  }
  name = demangled(name);
  replace_all(name, "v0::", "");
  replace_all(name, "(anonymous namespace)::", "");
  replace_all(name,
              "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
              "std::string");
  return name;
}

const code_name& code_names::find(const void* code) {
  const auto found = known_.find(code);
  if (found != known_.end()) return found->second;
  if (symbols_ == nullptr) symbols_ = std::make_unique<platform::symbols>();
  const platform::code_place place = symbols_->find(code);
  code_name name;
  name.file = place.file;
  name.line = place.line;
  if (!place.symbol.empty()) {
    name.function = coroutine_of_symbol(place.symbol);
  } else {
    char number[32];
    const std::size_t slash = place.module.find_last_of("/\\");
    const bool has_module = !place.module.empty();
    std::snprintf(number, sizeof number, "%s0x%llx", has_module ? "+" : "",
                  has_module ? static_cast<unsigned long long>(place.offset)
                             : static_cast<unsigned long long>(
                                   reinterpret_cast<std::uintptr_t>(code)));  // NOLINT
    name.function = place.module.substr(slash == std::string::npos ? 0 : slash + 1) + number;
  }
  return known_.emplace(code, std::move(name)).first->second;
}

}  // namespace tandem::inline v0::detail
