// peer_process.cpp: starts it, collects what it prints, ends it.
// SPDX-License-Identifier: MIT
#include "io/support/peer_process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace tandem::test {

namespace {

/// Where it lies; empty: nowhere.
std::string path_of(std::string_view program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string full = folder + "/" + std::string(program);
    if (::access(full.c_str(), X_OK) == 0) return full;
  }
  return {};
}

/// Our own, but for the language.
std::vector<std::string> english_environment() {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string_view(*each).starts_with("LC_ALL=")) all.emplace_back(*each);
  }
  all.emplace_back("LC_ALL=C");
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& all) {
  std::vector<char*> made;
  for (std::string& each : all) made.push_back(each.data());
  made.push_back(nullptr);
  return made;
}

/// In the child of a process with threads: calls of the system alone.
[[noreturn]] void become(const char* program, char** words, char** environment, int in, int out,
                         int err, pid_t parent) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) ::_exit(127);
  ::execve(program, words, environment);
  ::_exit(127);
}

}  // namespace

bool peer_process::is_installed(std::string_view program) { return !path_of(program).empty(); }

peer_process::peer_process(std::vector<std::string> words)
    : words_(std::move(words)),
      input_(connected_plain(true)),
      output_(plain_pipe()),
      errors_(plain_pipe()),
      report_([this](std::FILE* out) {
        const std::unique_lock guard(lock_, std::try_to_lock);
        if (guard) std::fprintf(out, "%s\n", transcript().c_str());
      }) {
  start();
  for (plain_socket* each : {&input_[1], &output_[1], &errors_[1]}) {
    close_other(std::exchange(*each, io::no_descriptor));
  }
  listener_ = std::thread([this] { listen(); });
}

peer_process::~peer_process() {
  kill();
  listener_.join();
  for (const plain_socket each : {input_[0], output_[0], errors_[0]}) close_other(each);
}

void peer_process::start() {
  const std::string program = path_of(words_.front());
  std::vector<std::string> words = words_;
  std::vector<std::string> environment = english_environment();
  std::vector<char*> word_pointers = pointers_to(words);
  std::vector<char*> environment_pointers = pointers_to(environment);
  const pid_t self = ::getpid();
  process_ = ::fork();
  if (process_ == 0) {
    become(program.c_str(), word_pointers.data(), environment_pointers.data(), input_[1],
           output_[1], errors_[1], self);
  }
  EXPECT_GT(process_, 0) << "no process for " << program;
  if (process_ < 0) has_ended_ = true;
}

void peer_process::listen() {
  std::array<bool, 2> is_over{};
  while (!is_over[0] || !is_over[1]) {
    std::array<pollfd, 2> asked{pollfd{is_over[0] ? -1 : output_[0], POLLIN, 0},
                                pollfd{is_over[1] ? -1 : errors_[0], POLLIN, 0}};
    ::poll(asked.data(), asked.size(), -1);
    if (asked[0].revents != 0) take(output_[0], printed_, is_over[0]);
    if (asked[1].revents != 0) take(errors_[0], complained_, is_over[1]);
    // gnutls-cli prints byte by byte: whoever takes each at once keeps both busy with that alone.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  reap();
}

void peer_process::take(plain_socket from, std::string& into, bool& is_over) {
  std::array<char, 65536> room;
  const ssize_t count = ::read(from, room.data(), room.size());
  const std::lock_guard guard(lock_);
  if (count <= 0) {
    is_over = true;
  } else {
    into.append(room.data(), static_cast<std::size_t>(count));
  }
  changed_.notify_all();
}

// Its number is its own until it is reaped, which happens under the lock: so kill() hits no other.
void peer_process::reap() {
  siginfo_t info{};
  if (process_ > 0) ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOWAIT);
  const std::lock_guard guard(lock_);
  int status = 0;
  if (process_ > 0) ::waitpid(process_, &status, 0);
  status_ = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  has_ended_ = true;
  changed_.notify_all();
}

void peer_process::say(std::string_view text) {
  while (!text.empty()) {
    pollfd asked{input_[0], POLLOUT, 0};
    const auto limit = std::chrono::milliseconds(hang_limit() / 2).count();
    if (::poll(&asked, 1, static_cast<int>(limit)) <= 0) break;
    const ssize_t sent = ::send(input_[0], text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  const std::lock_guard guard(lock_);
  EXPECT_TRUE(text.empty()) << "it takes no more of its input: " << transcript();
}

void peer_process::end_input() { ::shutdown(input_[0], SHUT_WR); }

bool peer_process::wait_until(const std::function<bool()>& reached, std::string_view what) {
  std::unique_lock guard(lock_);
  const auto over = [&] { return reached() || has_ended_; };
  changed_.wait_for(guard, hang_limit() / 2, over);
  const bool is_reached = reached();
  EXPECT_TRUE(is_reached) << "waited for: " << what << "\n" << transcript();
  return is_reached;
}

bool peer_process::prints(std::string_view text, std::size_t times) {
  std::size_t found = 0;
  // Where it was looked for already it is not looked for again.
  const auto count = [&](const std::string& all, std::size_t& from) {
    for (std::size_t at = 0; (at = all.find(text, from)) != std::string::npos;) {
      ++found;
      from = at + text.size();
    }
    from = std::max(from, all.size() - std::min(all.size(), text.size() - 1));
  };
  std::size_t in_output = 0;
  std::size_t in_errors = 0;
  return wait_until(
      [&] {
        count(printed_, in_output);
        count(complained_, in_errors);
        return found >= times;
      },
      text);
}

std::string peer_process::rest_of_line(std::string_view after) {
  std::string rest;
  wait_until(
      [&] {
        for (const std::string* const from : {&printed_, &complained_}) {
          const std::size_t at = from->find(after);
          if (at == std::string::npos) continue;
          const std::size_t end = from->find('\n', at);
          if (end == std::string::npos) continue;
          rest = from->substr(at + after.size(), end - at - after.size());
          return true;
        }
        return false;
      },
      after);
  return rest;
}

int peer_process::exit_status() {
  wait_until([this] { return has_ended_; }, "its end");
  const std::lock_guard guard(lock_);
  return status_;
}

void peer_process::kill() {
  std::unique_lock guard(lock_);
  if (has_ended_) return;
  ::kill(process_, SIGKILL);
  changed_.wait(guard, [this] { return has_ended_; });
}

std::string peer_process::output() const {
  const std::lock_guard guard(lock_);
  return printed_;
}

std::string peer_process::errors() const {
  const std::lock_guard guard(lock_);
  return complained_;
}

std::string peer_process::transcript() const {
  const auto end_of = [](const std::string& all) {
    constexpr std::size_t most = 3000;
    return all.size() <= most ? all : "..." + all.substr(all.size() - most);
  };
  std::string told;
  for (const std::string& word : words_) told += word + " ";
  return told + "\nprinted: " + end_of(printed_) + "\nand to its errors: " + end_of(complained_) +
         "\nand has " + (has_ended_ ? "ended with " + std::to_string(status_) : "not ended");
}

}  // namespace tandem::test
