// quit_signal.cpp: Ctrl+Break, which Windows tells a thread that it makes for that.
// SPDX-License-Identifier: MIT
#include "platform/quit_signal.hpp"

#include <mutex>
#include <system_error>

#include "platform/windows/system.hpp"

namespace tandem::inline v0::platform {

class quit_signal::state {
 public:
  explicit state(std::function<void()> told) : told_(std::move(told)) {
    const std::lock_guard hold(lock);
    if (::SetConsoleCtrlHandler(&handle, TRUE) == 0) {
      throw std::system_error(static_cast<int>(::GetLastError()), std::system_category(),
                              "tandem: SetConsoleCtrlHandler");
    }
    current = this;
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    const std::lock_guard hold(lock);  // a call that runs has it
    (void)::SetConsoleCtrlHandler(&handle, FALSE);
    current = nullptr;
  }

 private:
  static BOOL WINAPI handle(DWORD event) {
    if (event != CTRL_BREAK_EVENT) return FALSE;
    const std::lock_guard hold(lock);
    if (current == nullptr) return FALSE;
    current->told_();
    return TRUE;
  }

  static inline std::mutex lock;
  static inline state* current = nullptr;  // under the lock
  const std::function<void()> told_;
};

quit_signal::quit_signal(std::function<void()> told)
    : state_(std::make_unique<state>(std::move(told))) {}
quit_signal::~quit_signal() = default;

}  // namespace tandem::inline v0::platform
