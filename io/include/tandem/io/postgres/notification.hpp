// notification.hpp: what NOTIFY has told.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <tandem/io/postgres/export.hpp>
#include <utility>

namespace tandem::inline v0::io::postgres {

/// A notification of a channel that a connection listens to.
class notification {
 public:
  notification(std::string on, std::string told, int by) noexcept
      : channel(std::move(on)), payload(std::move(told)), server_process(by) {}

  std::string channel;
  std::string payload;
  int server_process;  ///< of who has told it; one's own, too
};

}  // namespace tandem::inline v0::io::postgres
