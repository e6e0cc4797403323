// trace_event.hpp: how an event lies in a ring: two words.
// SPDX-License-Identifier: MIT
//
//   first word   when, by the recorder's clock; of part: the id of what it is a part of; of name,
//                place: the address of a text
//   second word  the kind in 3 bits; 7 in them: there are 5 more. Above it a value:
//                  queued, begin, part, spawn, task_end, call   the id of the task, or of its part
//                  name      of a task_end its outcome
//                  place     the line
//                  role      the role in 8 bits, above them the number
//                  rouse     the worker's number
//                  steal     whose, and in the upper half how many
//                  look      how much came, and in the upper half how much was submitted
#pragma once

#include <cstddef>
#include <cstdint>

#include <tandem/detail/recording.hpp>

namespace tandem::inline v0::detail {

inline constexpr unsigned trace_half_bits = 28;

class trace_event {
 public:
  // Without initial values, so that a ring's memory is touched when it is used.
  std::uint64_t first;
  std::uint64_t second;

  static constexpr std::uint64_t word(trace_kind kind, std::uint64_t value) noexcept {
    // Short ones are those that an await needs: an id of 8 and the kind are one addition.
    const auto number = static_cast<std::uint64_t>(kind);
    if (number < first_long) return (value << short_bits) + number;
    return (((value << long_bits) + number - first_long) << short_bits) + first_long;
  }
  trace_kind kind() const noexcept {
    const std::uint64_t number = second & first_long;
    if (number < first_long) return static_cast<trace_kind>(number);
    return static_cast<trace_kind>(first_long + ((second >> short_bits) & ((1U << long_bits) - 1)));
  }
  std::uint64_t value() const noexcept {
    const bool is_short = (second & first_long) < first_long;
    return second >> (is_short ? short_bits : short_bits + long_bits);
  }

 private:
  static constexpr unsigned short_bits = 3;
  static constexpr unsigned long_bits = 5;
  static constexpr std::uint64_t first_long = 7;
  static_assert(static_cast<std::uint64_t>(trace_kind::spawn) == first_long);
};

/// The most words of one event, with what follows it.
inline constexpr std::size_t trace_event_group = 4;

}  // namespace tandem::inline v0::detail
