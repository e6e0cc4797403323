// thread_record.hpp: what a thread has of the runtime, from its first look to its end.
// SPDX-License-Identifier: MIT
//
// Protocol slot:
//   offset  whoever asks first allocates a slot of TlsAlloc and one of FlsAlloc; where the first
//           lies in the thread's own block, its offset there is stored for all threads
//   read    this_thread() reads the offset, which is 0 or the one value that it will ever have, then
//           the slot; 0 and null send it to slot/make
//   make    TlsGetValue has the record, or one is made and its address stored in both slots
//   leave   at the thread's end Windows calls the function of the second slot: it calls what was
//           noted for the end, which may still use slot/read, clears both slots and frees the record
//   again   what runs on the thread after that, such as the destructor of a thread_local, comes by
//           slot/make to a new record; Windows has called the second slot's function then, and does
//           not again: a function of the program's own list for the end of threads, one of the last
//           there, looks for a record and does as slot/leave
//
// Only a thread itself writes its slots, so nobody sees another's record; none is lost, since
// slot/make sets both slots, and slot/again comes after all that may make one.
#pragma once

#include <array>

#include <tandem/detail/thread_context.hpp>
#include <tandem/detail/thread_exit.hpp>

namespace tandem::inline v0::platform {

/// Lies on the heap of the process, and its address in a slot of TlsAlloc.
///
/// The context is its first member: the slot holds the address of both.
struct thread_record {
  explicit thread_record(void** no_magazine) noexcept : context(no_magazine) {}

  detail::thread_context context;
  std::array<detail::thread_exit_function, detail::exit_steps> at_exit{};  // by exit_step
};

/// @returns  the calling thread's
thread_record& this_threads_record() noexcept;

}  // namespace tandem::inline v0::platform
