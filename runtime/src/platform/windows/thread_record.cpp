// thread_record.cpp: slots for the record of a thread.
// SPDX-License-Identifier: MIT
#include "platform/windows/thread_record.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "frames/no_magazine.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0 {

namespace platform {

namespace {

void WINAPI end_of_thread(void* value) noexcept;

// Whether a thread that ends has slots to look into. Relaxed: one that has a record knows of them.
constinit std::atomic<bool> are_there{false};

class slots {
 public:
  slots() noexcept : thread_(::TlsAlloc()), end_(::FlsAlloc(&end_of_thread)) {
    TANDEM_ASSERT(thread_ != TLS_OUT_OF_INDEXES && end_ != FLS_OUT_OF_INDEXES,
                  "the process has no slot left for the data of threads");
    are_there.store(true, std::memory_order_relaxed);
#if defined(__x86_64__)
    // slot/offset: the thread's block keeps the first slots from here on (TlsSlots of the TEB).
    constexpr std::uint32_t first_slot = 0x1480;
    constexpr std::uint32_t slots_in_block = 64;
    if (thread_ < slots_in_block) {
      const auto at = first_slot + static_cast<std::uint32_t>(thread_ * sizeof(void*));
      __atomic_store_n(&detail::thread_slot_offset, at, __ATOMIC_RELAXED);
    }
#endif
  }

  thread_record* get() const noexcept {
    return static_cast<thread_record*>(::TlsGetValue(thread_));
  }
  void set(thread_record* record) const noexcept {
    TANDEM_ASSERT(::TlsSetValue(thread_, record) != 0 && ::FlsSetValue(end_, record) != 0,
                  "there is no memory for the data of this thread");
  }
  void clear() const noexcept {
    ::TlsSetValue(thread_, nullptr);
    ::FlsSetValue(end_, nullptr);
  }

 private:
  DWORD thread_;
  DWORD end_;
};

const slots& all_slots() noexcept {
  static const slots all;
  return all;
}

void free_record(thread_record* record) noexcept {
  std::destroy_at(record);
  ::HeapFree(::GetProcessHeap(), 0, record);
}

// slot/leave. Before slot/again both slots have to be empty.
void WINAPI end_of_thread(void* value) noexcept {
  auto* const record = static_cast<thread_record*>(value);
  for (const detail::thread_exit_function run : record->at_exit) {
    if (run != nullptr) run();
  }
  all_slots().clear();
  free_record(record);
}

// slot/again
void NTAPI last_of_thread(void*, DWORD why, void*) noexcept {
  if (why != DLL_THREAD_DETACH || !are_there.load(std::memory_order_relaxed)) return;
  if (thread_record* const record = all_slots().get()) end_of_thread(record);
}

}  // namespace

// Of the functions that the program calls at the end of a thread, in the order of their sections' names,
// one of the last: those that destroy thread_locals are in .CRT$XLD and .CRT$XLF.
#if defined(_MSC_VER)
#pragma comment(linker, "/INCLUDE:_tls_used")
#pragma comment(linker, "/INCLUDE:tandem_v0_last_of_thread")
#pragma section(".CRT$XLY", long, read)
extern "C" __declspec(allocate(".CRT$XLY")) const PIMAGE_TLS_CALLBACK tandem_v0_last_of_thread =
    &last_of_thread;
#else
extern "C"
    [[gnu::section(".CRT$XLY"), gnu::used]] const PIMAGE_TLS_CALLBACK tandem_v0_last_of_thread =
        &last_of_thread;
#endif

thread_record& this_threads_record() noexcept {
  const slots& all = all_slots();
  if (thread_record* const known = all.get()) return *known;
  // slot/make, not by operator new: a test's may count, and the record outlives what it counts.
  void* const memory = ::HeapAlloc(::GetProcessHeap(), 0, sizeof(thread_record));
  TANDEM_ASSERT(memory != nullptr, "there is no memory for the data of this thread");
  auto* const record = new (memory) thread_record(detail::no_magazine_end());
  all.set(record);
  return *record;
}

}  // namespace platform

namespace detail {

#if defined(__x86_64__)
constinit std::uint32_t thread_slot_offset = 0;
static_assert(offsetof(platform::thread_record, context) == 0, "the slot holds both addresses");

TANDEM_NOINLINE thread_context& find_this_thread() noexcept {
  return platform::this_threads_record().context;
}
#else
TANDEM_NOINLINE thread_context& this_thread() noexcept {
  return platform::this_threads_record().context;
}
#endif

}  // namespace detail

}  // namespace tandem::inline v0
