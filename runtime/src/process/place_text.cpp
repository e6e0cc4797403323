// place_text.cpp: functions as compilers write them, shortened.
// SPDX-License-Identifier: MIT
#include <tandem/detail/place_text.hpp>

#include <string_view>

namespace tandem::inline v0::detail {

std::string function_text(std::string name) {
  const auto cut_out = [&name](std::string_view what) {
    for (std::size_t at = name.find(what); at != std::string::npos; at = name.find(what, at)) {
      name.erase(at, what.size());
    }
  };
  if (name.ends_with(".Frame*)")) {
    // g++, of a lambda: its parameter is the frame.
    std::size_t depth = 0;
    for (std::size_t at = name.size(); at-- > 0;) {
      if (name[at] == ')') ++depth;
      if (name[at] == '(' && --depth == 0) {
        name.resize(at);
        break;
      }
    }
    if (name.ends_with("::operator()")) name.resize(name.size() - 12);
  }
  cut_out("{anonymous}::");
  cut_out("(anonymous namespace)::");
  cut_out("v0::");
  return name;
}

std::string place_text(const char* file, std::uint32_t line, const char* function) {
  if (line == 0) return "a place that is not known";
  std::string out = std::string(file) + ":" + std::to_string(line);
  if (function[0] != 0) out += " in " + function_text(function);
  return out;
}

std::string place_text(const std::source_location& where) {
  return place_text(where.file_name(), where.line(), where.function_name());
}

}  // namespace tandem::inline v0::detail
