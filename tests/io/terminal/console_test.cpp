// console_test.cpp: what is asked of a console, and typed into it, on Windows.
// SPDX-License-Identifier: MIT
//
// A test has no console. So each law runs this program again, for itself, in a pseudo console of 80
// columns and 25 rows, and types the keys there.
#include <gtest/gtest.h>

#define WIN32_LEAN_AND_MEAN  // libstdc++ defines NOMINMAX itself
#include <windows.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/shared_streams.hpp>
#include <tandem/io/terminal.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "io/terminal/shared_kinds.hpp"
#include "plain_pair.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::bytes_of;
using tandem::io::is_terminal;
using tandem::io::native_descriptor;
using tandem::io::shared_input;
using tandem::io::shared_output;
using tandem::io::size_of_terminal;
using tandem::io::terminal_mode;
using tandem::io::terminal_scope;
using tandem::io::terminal_size;
using tandem::test::on_every_home;
using tandem::test::plain_pair;
using tandem::test::text_from;

native_descriptor descriptor_of(HANDLE which) {
  return reinterpret_cast<native_descriptor>(which);  // NOLINT: it is one
}

/// A handle, closed at its end.
class owned {
 public:
  explicit owned(HANDLE handle) : handle_(handle) {}
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() { ::CloseHandle(handle_); }
  HANDLE get() const { return handle_; }

 private:
  HANDLE handle_;
};

/// @param name  CONIN$ or CONOUT$
class console {
 public:
  explicit console(const wchar_t* name)
      : handle_(::CreateFileW(name, GENERIC_READ | GENERIC_WRITE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING, 0,
                              nullptr)) {
    if (handle_.get() == INVALID_HANDLE_VALUE) throw std::runtime_error("there is no console");
  }
  HANDLE handle() const { return handle_.get(); }
  native_descriptor descriptor() const { return descriptor_of(handle()); }
  DWORD mode() const {
    DWORD answer = 0;
    EXPECT_NE(::GetConsoleMode(handle(), &answer), 0);
    return answer;
  }

 private:
  owned handle_;
};

void type(const console& input, std::string_view keys) {
  for (const char key : keys) {
    for (const BOOL is_down : {TRUE, FALSE}) {
      INPUT_RECORD record{};
      record.EventType = KEY_EVENT;
      record.Event.KeyEvent.bKeyDown = is_down;
      record.Event.KeyEvent.wRepeatCount = 1;
      record.Event.KeyEvent.wVirtualKeyCode = key == '\r' ? WORD{VK_RETURN} : WORD{0};
      record.Event.KeyEvent.uChar.UnicodeChar = static_cast<wchar_t>(key);
      DWORD count = 0;
      EXPECT_NE(::WriteConsoleInputW(input.handle(), &record, 1, &count), 0);
    }
  }
}

/// A pseudo console, and whoever takes what it shows.
class pseudo_console {
 public:
  pseudo_console() {
    const auto make = reinterpret_cast<make_function>(call_of("CreatePseudoConsole"));  // NOLINT
    EXPECT_NE(make, nullptr);
    EXPECT_GE(make({80, 25}, reinterpret_cast<HANDLE>(keys_.first()),         // NOLINT
                   reinterpret_cast<HANDLE>(shown_.second()), 0, &console_),  // NOLINT
              0);
    shown_.close_second();
    taker_ = std::thread([this] {
      while (tandem::test::take_plain(shown_.first(), 1).size() == 1) {}
    });
  }
  ~pseudo_console() {
    reinterpret_cast<close_function>(call_of("ClosePseudoConsole"))(console_);  // NOLINT
    taker_.join();
  }
  void* get() const { return console_; }

 private:
  using make_function = HRESULT(WINAPI*)(COORD, HANDLE, HANDLE, DWORD, void**);
  using close_function = void(WINAPI*)(void*);
  // Headers for systems before Windows 10, 1809, have none of them.
  static void* call_of(const char* name) {
    return reinterpret_cast<void*>(  // NOLINT
        ::GetProcAddress(::GetModuleHandleW(L"kernel32.dll"), name));
  }

  plain_pair keys_ = plain_pair::pipe();
  plain_pair shown_ = plain_pair::pipe();
  void* console_ = nullptr;
  std::thread taker_;
};

constexpr wchar_t is_there[] = L"TANDEM_TEST_IS_IN_CONSOLE";

/// @returns  how the law of that name has ended in a console
DWORD run_in_console(std::string_view law) {
  const pseudo_console console;
  SIZE_T size = 0;
  ::InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
  const std::unique_ptr<std::byte[]> room(new std::byte[size]);
  STARTUPINFOEXW how{};
  how.StartupInfo.cb = sizeof how;
  how.lpAttributeList = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(room.get());  // NOLINT
  EXPECT_NE(::InitializeProcThreadAttributeList(how.lpAttributeList, 1, 0, &size), 0);
  constexpr DWORD_PTR of_pseudo_console = 0x00020016;  // PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE
  EXPECT_NE(::UpdateProcThreadAttribute(how.lpAttributeList, 0, of_pseudo_console, console.get(),
                                        sizeof(void*), nullptr, nullptr),
            0);
  std::array<wchar_t, MAX_PATH> own{};
  ::GetModuleFileNameW(nullptr, own.data(), MAX_PATH);
  std::wstring line = L"\"" + std::wstring(own.data()) + L"\" --gtest_filter=console." +
                      std::wstring(law.begin(), law.end());
  ::SetEnvironmentVariableW(is_there, L"1");
  PROCESS_INFORMATION begun{};
  EXPECT_NE(
      ::CreateProcessW(nullptr, line.data(), nullptr, nullptr, FALSE, EXTENDED_STARTUPINFO_PRESENT,
                       nullptr, nullptr, &how.StartupInfo, &begun),
      0);
  ::SetEnvironmentVariableW(is_there, nullptr);
  const owned process(begun.hProcess);
  ::CloseHandle(begun.hThread);
  EXPECT_EQ(::WaitForSingleObject(process.get(), INFINITE), WAIT_OBJECT_0);
  DWORD code = 99;
  EXPECT_NE(::GetExitCodeProcess(process.get(), &code), 0);
  ::DeleteProcThreadAttributeList(how.lpAttributeList);
  return code;
}

template <class Law>
void in_console(Law law) {
  if (::GetEnvironmentVariableW(is_there, nullptr, 0) != 0) {
    law();
  } else {
    const auto* const own = ::testing::UnitTest::GetInstance()->current_test_info();
    EXPECT_EQ(run_in_console(own->name()), 0U);
  }
}

TEST(console, it_says_what_it_is_and_how_big) {
  in_console([] {
    const console input(L"CONIN$");
    const console output(L"CONOUT$");
    EXPECT_TRUE(is_terminal(input.descriptor()));
    EXPECT_TRUE(is_terminal(output.descriptor()));
    EXPECT_EQ(size_of_terminal(output.descriptor()), terminal_size(80, 25));
    EXPECT_EQ(size_of_terminal(input.descriptor()), terminal_size(80, 25));
  });
}

TEST(console, each_mode_ends_with_its_scope_however_that_ends) {
  in_console([] {
    const console input(L"CONIN$");
    const console output(L"CONOUT$");
    const std::pair<DWORD, DWORD> before(input.mode(), output.mode());
    const auto now = [&] { return std::pair<DWORD, DWORD>(input.mode(), output.mode()); };
    for (const auto mode : {terminal_mode::hidden, terminal_mode::keys, terminal_mode::raw}) {
      for (const native_descriptor either : {input.descriptor(), output.descriptor()}) {
        try {
          const terminal_scope scope(either, mode);
          EXPECT_EQ(input.mode() & DWORD{ENABLE_ECHO_INPUT}, 0U);
          EXPECT_EQ((input.mode() & DWORD{ENABLE_LINE_INPUT}) != 0, mode == terminal_mode::hidden);
          EXPECT_EQ((input.mode() & DWORD{ENABLE_PROCESSED_INPUT}) != 0,
                    mode != terminal_mode::raw);
          throw std::runtime_error("out of it");
        } catch (const std::runtime_error&) {}
        EXPECT_EQ(now(), before);
        terminal_scope early(either, mode);
        early.restore();
        EXPECT_EQ(now(), before);
        early.restore();
      }
    }
  });
}

TEST(console, a_line_is_read_when_it_has_ended) {
  in_console([] {
    on_every_home([]() -> task<void> {
      const console keys(L"CONIN$");
      shared_input input = shared_input::of(keys.descriptor());
      auto waiting = tandem::spawn(text_from(input));
      co_await tandem::sleep_for(1ms);
      type(keys, "line\r");
      EXPECT_EQ(co_await waiting, "line\r\n");
    });
  });
}

TEST(console, keys_come_one_by_one_and_a_stop_loses_none) {
  in_console([] {
    on_every_home([]() -> task<void> {
      const console keys(L"CONIN$");
      shared_input input = shared_input::of(keys.descriptor());
      const terminal_scope scope(input.native_handle(), terminal_mode::keys);
      ::FlushConsoleInputBuffer(keys.handle());
      for (const char each : {'a', 'b', 'c'}) {
        const auto stopped = co_await as_result(tandem::with_timeout(2ms, text_from(input)));
        EXPECT_TRUE(stopped.is_cancelled());
        type(keys, std::string_view(&each, 1));
        EXPECT_EQ(co_await text_from(input, 1), std::string(1, each));
        ::FlushConsoleInputBuffer(keys.handle());  // that the key was let go
      }
    });
  });
}

TEST(console, what_is_written_is_shown) {
  in_console([] {
    on_every_home([]() -> task<void> {
      const console screen(L"CONOUT$");
      ::SetConsoleCursorPosition(screen.handle(), {0, 3});
      shared_output output = shared_output::of(screen.descriptor());
      co_await output.write_all(bytes_of("shown"));
      std::array<char, 5> row{};
      DWORD count = 0;
      EXPECT_NE(::ReadConsoleOutputCharacterA(screen.handle(), row.data(), 5, {0, 3}, &count), 0);
      EXPECT_EQ(std::string_view(row.data(), count), "shown");
    });
  });
}

TEST(console, what_is_none_is_no_terminal) {
  const plain_pair pipe = plain_pair::pipe();
  const auto refusal_of = [](auto call) {
    try {
      call();
    } catch (const std::system_error& failure) {
      return failure.code();
    }
    return std::error_code();
  };
  EXPECT_FALSE(is_terminal(pipe.first()));
  EXPECT_FALSE(is_terminal(tandem::io::no_descriptor));
  constexpr auto no_terminal = std::errc::inappropriate_io_control_operation;
  EXPECT_EQ(refusal_of([&] { (void)size_of_terminal(pipe.first()); }), no_terminal);
  EXPECT_EQ(refusal_of([&] { const terminal_scope s(pipe.first(), terminal_mode::raw); }),
            no_terminal);
  EXPECT_EQ(
      refusal_of([] { const terminal_scope s(tandem::io::no_descriptor, terminal_mode::raw); }),
      std::errc::bad_file_descriptor);
}

}  // namespace
