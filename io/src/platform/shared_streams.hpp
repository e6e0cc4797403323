// shared_streams.hpp: descriptors that others use too, and whose mode is theirs: standard input and output.
// SPDX-License-Identifier: MIT
//
// A descriptor refers to an open file description, which every process that has inherited it
// shares, and O_NONBLOCK is a mode of that. So none of this sets it: bytes go by calls that say
// themselves that they must not wait, or by a description of our own of the same pipe or terminal.
//
// Any thread; none of it waits. What may fail answers with a result that holds a std::error_code.
#pragma once

#include <cstdint>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::platform {

/// A descriptor of ours for what somebody else's refers to.
class shared_descriptor {
 public:
  native_descriptor descriptor;  ///< not inherited across exec
  bool is_file;                  ///< it is always ready, and calls on it wait for a disk
  std::uint64_t kind = 0;        ///< for way_of(), as file_handle::joined_port() has it
};

/// @param given  any number; stays the caller's, and as it is
/// @param reads  else bytes are written to it
/// @returns      the caller's to close
result<shared_descriptor> open_shared(native_descriptor given, bool reads) noexcept;

/// The process's own: 0 is its input, 1 its output, 2 what it says of errors.
///
/// @returns  bad_file_descriptor: it has none. What is not inherited across exec is none either: some
///           library, or ours, has the number, since it was free
result<native_descriptor> standard_descriptor(int which) noexcept;

}  // namespace tandem::inline v0::io::platform
