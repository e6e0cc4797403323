// signal_dump_test.cpp: SIGQUIT, beside handlers of others and in children of fork().
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include <tandem/tandem.hpp>

#include "fork_support.hpp"
#include "sanitized.hpp"
#include "support/temporary_folder.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::runtime;
using tandem::task;
using tandem::test::child_may_allocate;
using tandem::test::get;
using tandem::test::in_child;
using tandem::test::temporary_folder;
using tandem::test::with_threads;

/// The watchdog, or the alarm of a child, sees one that never comes.
void wait_for(const std::string& text, const std::string& path) {
  while (get(path).find(text) == std::string::npos) std::this_thread::sleep_for(1ms);
}

tandem::runtime_options told_into(const std::string& path) {
  tandem::runtime_options options = with_threads(1);
  options.dump_on_signal = true;
  options.dump_path = path;
  return options;
}

std::atomic<int> heard{0};
struct sigaction kept{};  // what was there before hears_and_passes_on()

void hears(int /*number*/) { heard.fetch_add(1); }
void hears_and_passes_on(int number, siginfo_t* info, void* context) {
  heard.fetch_add(1);
  if ((kept.sa_flags & SA_SIGINFO) != 0) kept.sa_sigaction(number, info, context);
}

/// While it lives, and as long as nobody comes later, that handles SIGQUIT.
class handled_by {
 public:
  explicit handled_by(void (*handler)(int)) {
    struct sigaction wanted{};
    wanted.sa_handler = handler;
    begin(wanted);
  }
  explicit handled_by(void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction wanted{};
    wanted.sa_sigaction = handler;
    wanted.sa_flags = SA_SIGINFO;
    begin(wanted);
  }
  handled_by(const handled_by&) = delete;
  handled_by& operator=(const handled_by&) = delete;
  ~handled_by() { (void)::sigaction(SIGQUIT, &before_, nullptr); }

 private:
  void begin(const struct sigaction& wanted) {
    heard = 0;
    EXPECT_EQ(::sigaction(SIGQUIT, &wanted, &before_), 0);
    kept = before_;
  }
  struct sigaction before_{};
};

constexpr const char* head = "tandem: dump of runtime";

TEST(signal_dump, is_written_and_whoever_handled_the_signal_before_is_called_too) {
  const handled_by others(&hears);
  const temporary_folder folder;
  const std::string told = folder / "told";
  const runtime rt(told_into(told));
  ASSERT_EQ(::raise(SIGQUIT), 0);
  wait_for(head, told);
  EXPECT_EQ(heard, 1);
}

TEST(signal_dump, goes_on_below_a_handler_that_came_later_and_passes_it_on) {
  const temporary_folder folder;
  const std::string told = folder / "told";
  const runtime rt(told_into(told));
  const handled_by later(&hears_and_passes_on);
  ASSERT_EQ(::raise(SIGQUIT), 0);
  wait_for(head, told);
  EXPECT_EQ(heard, 1);
}

TEST(signal_dump, and_a_handler_that_kept_it_do_not_call_each_other_for_ever) {
  const temporary_folder folder;
  const std::string told = folder / "told";
  auto first = std::make_unique<runtime>(told_into(told));
  const handled_by between(&hears_and_passes_on);  // keeps the first one's
  first.reset();
  const runtime second(told_into(told));  // keeps the one between
  ASSERT_EQ(::raise(SIGQUIT), 0);
  wait_for(head, told);
  EXPECT_EQ(heard, 1);
}

#if defined(TANDEM_TEST_THREAD_SANITIZER)
constexpr bool child_hears_signals = false;  // unless its parent has no threads
#else
constexpr bool child_hears_signals = true;
#endif

TEST(signal_dump, in_a_child_of_fork_reaches_whoever_handled_it_before_once) {
  if (!child_hears_signals) GTEST_SKIP() << "ThreadSanitizer hands no signal on in a child";
  const handled_by others(&hears);
  const temporary_folder folder;
  const std::string told = folder / "told";
  const runtime rt(told_into(told));
  EXPECT_EQ(in_child([] {
              if (::raise(SIGQUIT) != 0) return 1;
              return heard == 1 ? 0 : 2;  // and nothing waits for a thread that is not there
            }),
            0);
  EXPECT_EQ(get(told), "");
}

TEST(signal_dump, of_a_runtime_of_a_child_is_the_childs) {
  if (!child_hears_signals) GTEST_SKIP() << "ThreadSanitizer hands no signal on in a child";
  if (!child_may_allocate) GTEST_SKIP() << "a child cannot allocate with this sanitizer";
  const handled_by others(&hears);
  const temporary_folder folder;
  const std::string parents = folder / "parents";
  const std::string childs = folder / "childs";
  const runtime rt(told_into(parents));
  EXPECT_EQ(in_child([&childs] {
              const runtime own(told_into(childs));
              if (::raise(SIGQUIT) != 0) return 1;
              wait_for(head, childs);
              return heard == 1 ? 0 : 2;
            }),
            0);
  EXPECT_EQ(get(parents), "");
}

/// While it lives, standard error is that file.
class errors_into {
 public:
  explicit errors_into(const std::string& path) : kept_(::dup(STDERR_FILENO)) {
    const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    EXPECT_GE(::dup2(file, STDERR_FILENO), 0);
    ::close(file);
  }
  errors_into(const errors_into&) = delete;
  errors_into& operator=(const errors_into&) = delete;
  ~errors_into() {
    (void)::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
  }

 private:
  const int kept_;
};

TEST(signal_dump, that_has_no_room_is_said_on_standard_error) {
  const temporary_folder folder;
  const std::string said = folder / "said";
  const errors_into file(said);
  const runtime rt(told_into("/dev/full"));
  ASSERT_EQ(::raise(SIGQUIT), 0);
  wait_for("the dump is not whole in /dev/full", said);
}

TEST(fork_and_traces, a_trace_without_room_is_an_error_and_leaves_nothing) {
  if (!child_may_allocate) GTEST_SKIP() << "a child cannot allocate with this sanitizer";
  const temporary_folder folder;
  EXPECT_EQ(in_child([&folder] {
              runtime own(with_threads(1));
              own.trace_to(folder / "run.json");
              if (own.spawn([]() -> task<int> { co_return 7; }()).wait() != 7) return 1;
              (void)::signal(SIGXFSZ, SIG_IGN);
              const rlimit little{100, 100};
              if (::setrlimit(RLIMIT_FSIZE, &little) != 0) return 2;
              try {
                own.write_trace();
                return 3;
              } catch (const std::system_error& full) {
                if (full.code() != std::errc::file_too_large) return 4;
              }
              return folder.names().empty() ? 0 : 5;
            }),
            0);
}

task<void> throws() {
  co_await tandem::yield();
  throw std::runtime_error("lost");
}

/// 0: a runtime of the calling process dumps, and keeps the trace of an exception.
int looks_by_itself() {
  runtime own(with_threads(1));
  if (own.dump().find(head) == std::string::npos) return 1;
  try {
    own.spawn(throws()).wait();
    return 2;
  } catch (const std::exception& failure) {
    return tandem::trace_of(failure).empty() ? 3 : 0;
  }
}

TEST(fork_and_traces, a_child_made_while_others_dump_and_throw_does_so_by_itself) {
  if (!child_may_allocate) GTEST_SKIP() << "a child cannot allocate with this sanitizer";
  tandem::trace_exceptions(true);
  std::atomic<bool> over{false};
  runtime rt(with_threads(1));
  std::thread dumps([&] {
    while (!over) (void)rt.dump();
  });
  std::thread throwing([&] {
    while (!over) EXPECT_THROW(rt.spawn(throws()).wait(), std::runtime_error);
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(in_child(&looks_by_itself), 0);
  over = true;
  dumps.join();
  throwing.join();
  tandem::trace_exceptions(false);
}

}  // namespace
