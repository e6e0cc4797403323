// lease.hpp: a file that nobody else can open for a while, as Linux has it.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace tandem::test {

/// As long as it lives nobody else's open() of this file returns.
class lease {
 public:
  explicit lease(const std::string& path) : descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    is_held_ = ::fcntl(descriptor_, F_SETLEASE, F_WRLCK) == 0;
    // The signal by which the system asks us to give it up goes to nobody: ignored until the lease
    // ends it might still wait for a thread that blocks it, and come after that.
    (void)::fcntl(descriptor_, F_SETOWN, 0);
  }
  lease(const lease&) = delete;
  lease& operator=(const lease&) = delete;
  ~lease() { end(); }
  bool is_held() const noexcept { return is_held_; }
  void end() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
  bool is_held_ = false;
};

}  // namespace tandem::test
