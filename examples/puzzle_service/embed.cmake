# embed.cmake: writes a text file as a C++ string: cmake -DINPUT=page.html -DOUTPUT=page.cpp -P embed.cmake
# SPDX-License-Identifier: MIT
file(READ ${INPUT} text)
# Compilers take 64 KiB in one literal; neighbouring literals are one string.
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 piece)
  string(APPEND pieces "R\"embedded(${piece})embedded\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
get_filename_component(name ${INPUT} NAME)
file(WRITE ${OUTPUT} "// Made from ${name} by embed.cmake.
#include \"page.hpp\"
namespace service {
extern const std::string_view page_html;
const std::string_view page_html = ${pieces};
}  // namespace service
")
