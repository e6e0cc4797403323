// inside.hpp: who is in the middle of something in a session, and a transfer that goes with its task.
// SPDX-License-Identifier: MIT
#pragma once

#include "curl/session_core.hpp"

namespace tandem::inline v0::io::curl {

/// The session waits for it before it ends. On the session's thread.
class session_core::visit {
 public:
  explicit visit(session_core& at) noexcept : at_(at) { ++at_.inside_; }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  ~visit() {
    if (--at_.inside_ == 0) at_.nobody_inside_.set();
  }

 private:
  session_core& at_;
};

/// curl_session/stop. Takes the transfer out when its task leaves, however that is. On the session's thread.
class session_core::stay {
 public:
  stay(session_core& at, exchange& of) noexcept : at_(at), of_(of) {}
  stay(const stay&) = delete;
  stay& operator=(const stay&) = delete;
  ~stay() { at_.take_out(of_); }

 private:
  session_core& at_;
  exchange& of_;
};

}  // namespace tandem::inline v0::io::curl
