// channel_support.hpp: one sender, one receiver, and how each of them ended.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <tandem/channel.hpp>
#include <utility>

#include "runtime/support/sync_support.hpp"

namespace tandem::test {

using boxed = std::unique_ptr<int>;

/// Sends and notes s, c (cancelled) or x (closed).
inline task<void> send_one(channel<boxed>& to, boxed& value, std::string& log) {
  try {
    co_await to.send(std::move(value));
    log += 's';
  } catch (const operation_cancelled&) {
    log += 'c';
  } catch (const channel_closed&) {
    log += 'x';
  }
}

/// Receives and notes the digit, e (ended) or c (cancelled).
inline task<void> receive_one(channel<boxed>& from, std::string& log) {
  try {
    const auto got = co_await from.receive();
    log += got ? static_cast<char>('0' + **got) : 'e';
  } catch (const operation_cancelled&) {
    log += 'c';
  }
}

}  // namespace tandem::test
