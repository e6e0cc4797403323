// message.hpp: what a subscriber gets.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

namespace tandem::inline v0::io::redis {

/// Something that was published; or that messages may be missing here.
class message {
 public:
  /// That the connection was lost, and is there again, with all that was subscribed.
  static message gap() { return message(true, {}, {}, {}); }
  message(std::string channel_name, std::string pattern_text, std::string text) noexcept
      : message(false, std::move(channel_name), std::move(pattern_text), std::move(text)) {}

  /// Messages that were published between the one before and the one after this may be missing;
  /// everything else here is empty.
  bool is_gap() const noexcept { return is_gap_; }

  std::string channel;
  std::string pattern;  ///< by which it came; empty: by its channel
  std::string payload;

 private:
  message(bool is_gap, std::string channel_name, std::string pattern_text,
          std::string text) noexcept
      : channel(std::move(channel_name)),
        pattern(std::move(pattern_text)),
        payload(std::move(text)),
        is_gap_(is_gap) {}

  bool is_gap_;
};

}  // namespace tandem::inline v0::io::redis
