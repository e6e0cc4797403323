# embed.cmake: writes text files as C++ strings: cmake -DOUTPUT=page_files.cpp -DFOLDER=page -DNAMES=index.html,page.css -P embed.cmake
# SPDX-License-Identifier: MIT
set(entries "")
string(REPLACE "," ";" names "${NAMES}")
foreach(name IN LISTS names)
  file(READ ${FOLDER}/${name} text)
  # Compilers take 64 KiB in one literal; neighbouring literals are one string. Cut between lines, for a character may be
  # several bytes.
  set(pieces "")
  while(NOT text STREQUAL "")
    string(SUBSTRING "${text}" 0 8000 piece)
    string(LENGTH "${text}" length)
    if(length GREATER 8000)
      string(FIND "${piece}" "\n" end REVERSE)
      math(EXPR end "${end} + 1")
      string(SUBSTRING "${text}" 0 ${end} piece)
    endif()
    string(LENGTH "${piece}" taken)
    string(SUBSTRING "${text}" ${taken} -1 text)
    string(APPEND pieces "R\"embedded(${piece})embedded\"\n")
  endwhile()
  get_filename_component(ending ${name} LAST_EXT)
  if(ending STREQUAL ".html")
    set(path "/")
    set(type "text/html")
  else()
    set(path "/${name}")
    set(type "text/css")
    if(ending STREQUAL ".js")
      set(type "text/javascript")
    endif()
  endif()
  string(APPEND entries "page_file(\"${path}\", \"${type}; charset=utf-8\",\n${pieces}),\n")
endforeach()
file(WRITE ${OUTPUT} "// Made from the files of the page by embed.cmake.
#include \"page.hpp\"
namespace service {
namespace {
const page_file files[] = {
${entries}};
}  // namespace
const page_file* find_page_file(std::string_view path) noexcept {
  for (const page_file& each : files) {
    if (each.path == path) return &each;
  }
  return nullptr;
}
}  // namespace service
")
