// watch_folder.cpp: tells what happens in a folder. watch_folder [FOLDER]; without one it tests itself.
// SPDX-License-Identifier: MIT
#include <iostream>
#include <string>
#include <tandem/io/file_operations.hpp>
#include <tandem/io/file_watch.hpp>
#include <tandem/io/temporary.hpp>
#include <tandem/io/write_file.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

namespace io = tandem::io;
using io::change_kind;

const char* text_of(change_kind kind) {
  switch (kind) {
    case change_kind::created: return "created";
    case change_kind::removed: return "removed";
    case change_kind::moved_from: return "renamed from";
    case change_kind::moved_to: return "renamed to";
    case change_kind::closed_by_writer: return "written";
    case change_kind::moved_itself: return "the folder has another path";
    case change_kind::ended: return "the folder has gone";
    case change_kind::overflow: return "too much at once: some changes were not told";
    default: return "changed";
  }
}

// Until the folder goes. @returns  what was told
tandem::task<std::vector<std::string>> tell(io::file_watch& watch) {
  std::vector<std::string> lines;
  io::file_change change;
  do {
    change = co_await watch.next();
    lines.push_back(text_of(change.kind) + (change.name.empty() ? "" : " " + change.name));
    std::cout << lines.back() << std::endl;
  } while (change.kind != change_kind::ended);
  co_return lines;
}

tandem::task<void> watch_folder(std::string path) {
  io::file_watch watch;
  co_await watch.add(path, io::watch_for::names | io::watch_for::writers);
  co_await tell(watch);
}

tandem::task<bool> test() {
  io::file_watch watch;
  const auto use = [&](io::temporary_directory& scratch) -> tandem::task<void> {
    co_await watch.add(scratch.path(), io::watch_for::names);
    co_await scratch.folder().make_directory("new");
    co_await scratch.folder().rename("new", "old");
    co_await scratch.folder().remove_directory("old");
  };
  co_await io::with_temporary_directory(use);
  const std::vector<std::string> told = co_await tell(watch);
  co_return told == std::vector<std::string>{"created new", "renamed from new", "renamed to old",
                                             "removed old", "the folder has gone"};
}

int main(int argc, char** argv) {
  try {
    if (argc < 2) return tandem::run(test()) ? 0 : 1;
    tandem::run(watch_folder(argv[1]));
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
