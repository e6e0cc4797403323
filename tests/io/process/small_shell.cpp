// small_shell.cpp: as much of a Unix shell as tests of processes need on Windows: a program for them to start.
// SPDX-License-Identifier: MIT
//
// small_shell SCRIPT: commands, which end with ";" or "&" and a blank, or with the script. "&" starts one in the background.
//   read NAME      a line of the input; status 1 at its end      cat [FILE]     the input, or a file
//   echo WORDS     with the values of $NAME                      sleep SECONDS  without a sound
//   exec <&-       closes the input                              yes            "y" for ever
//   exit STATUS                                                  :, trap ...    nothing
//   args           what the script was followed by, each in a line
// "echo" takes ">&2". It ends with the status of its last command.
#include <fcntl.h>
#include <io.h>

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>

#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace {

class small_shell {
 public:
  explicit small_shell(std::string own_path, char** arguments)
      : own_path_(std::move(own_path)), arguments_(arguments) {}

  int run(std::string script) {
    while (!script.empty()) {
      const std::size_t end = end_of_command(script);
      const std::string command = script.substr(0, end);
      const bool is_background = end < script.size() && script[end] == '&';
      script.erase(0, end < script.size() ? end + 1 : end);
      script.erase(0, script.find_first_not_of(' '));
      status_ = is_background ? start(command) : one(command);
      if (is_over_) break;
    }
    return status_;
  }

 private:
  static std::size_t end_of_command(std::string_view script) {
    for (std::size_t at = 0; at < script.size(); ++at) {
      if (script[at] == ';') return at;
      if (script[at] == '&' && at > 0 && script[at - 1] == ' ') return at;
    }
    return script.size();
  }

  int one(const std::string& command) {
    std::istringstream words(command);
    std::string name;
    std::string word;
    words >> name;
    if (name == "read") return words >> word, read_line(variables_[word]);
    if (name == "echo") return echo(words);
    if (name == "cat") return words >> word, copy(word);
    if (name == "yes") return endless();
    if (name == "exec") words >> name;  // of a program: the shell itself goes on as it
    if (name == "<&-") return ::_close(0);
    if (name == "sleep") {
      words >> word;
      ::Sleep(static_cast<DWORD>(std::stod(word) * 1000));
    }
    if (name == "args") return print_arguments();
    if (name == "exit") {
      is_over_ = true;
      return words >> word, std::stoi(word);
    }
    return 0;
  }

  static int read_line(std::string& line) {
    line.clear();
    char each = 0;
    while (::_read(0, &each, 1) == 1) {
      if (each == '\n') return 0;
      line += each;
    }
    return 1;
  }

  static bool write_all(int to, std::string_view text) {
    while (!text.empty()) {
      const int count = ::_write(to, text.data(), static_cast<unsigned>(text.size()));
      if (count <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  int echo(std::istringstream& words) {
    int to = 1;
    std::string line;
    for (std::string word; words >> word;) {
      if (word == ">&2") {
        to = 2;
      } else {
        (line.empty() ? line : line += ' ') += expanded(word);
      }
    }
    return write_all(to, line + '\n') ? 0 : 1;
  }

  std::string expanded(std::string_view word) const {
    std::string made;
    while (!word.empty()) {
      const char first = word.front();
      word.remove_prefix(1);
      if (first != '$') {
        made += first;
        continue;
      }
      std::string name;
      while (!word.empty() && (std::isalnum(word.front()) != 0 || word.front() == '_')) {
        name += word.front();
        word.remove_prefix(1);
      }
      const auto own = variables_.find(name);
      const char* const given = std::getenv(name.c_str());
      made += own != variables_.end() ? own->second : given != nullptr ? given : "";
    }
    return made;
  }

  static int copy(const std::string& path) {
    const int from = path.empty() ? 0 : ::_open(path.c_str(), _O_RDONLY | _O_BINARY);
    std::array<char, 4096> room;
    int count = 0;
    while ((count = ::_read(from, room.data(), room.size())) > 0) {
      if (!write_all(1, std::string_view(room.data(), static_cast<std::size_t>(count)))) return 1;
    }
    return count;
  }

  static int endless() {
    while (write_all(1, "y\n")) {}
    return 1;
  }

  int print_arguments() {
    int status = 0;
    for (char** each = arguments_; *each != nullptr; ++each) {
      if (!write_all(1, *each + std::string("\n"))) status = 1;
    }
    return status;
  }

  int start(const std::string& command) {
    std::string line = "small_shell \"" + command + '"';
    STARTUPINFOA how{};
    how.cb = sizeof how;
    PROCESS_INFORMATION made{};
    // What this one has got can be inherited, since it was.
    if (::CreateProcessA(own_path_.c_str(), line.data(), nullptr, nullptr, TRUE, 0, nullptr,
                         nullptr, &how, &made) == 0) {
      return 1;
    }
    ::CloseHandle(made.hProcess);
    ::CloseHandle(made.hThread);
    return 0;
  }

  std::string own_path_;
  char** arguments_;
  std::map<std::string, std::string> variables_;
  int status_ = 0;
  bool is_over_ = false;
};

}  // namespace

int main(int count, char** arguments) {
  for (const int each : {0, 1, 2}) ::_setmode(each, _O_BINARY);
  std::array<char, 1024> own{};
  ::GetModuleFileNameA(nullptr, own.data(), static_cast<DWORD>(own.size()));
  return count < 2 ? 2 : small_shell(own.data(), arguments + 2).run(arguments[1]);
}
