// child_job.hpp: the job that is a group of processes, and how others find it.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cwchar>
#include <tandem/detail/random.hpp>

#include "platform/windows/owned_handle.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

/// By its leader's number, in this process only: nobody else knows the name.
class job_name {
 public:
  explicit job_name(DWORD leader) noexcept {
    static const std::uint64_t secret = tandem::detail::random_bits();
    (void)std::swprintf(text_.data(), text_.size(), L"Local\\tandem-%016llx-%lu",
                        static_cast<unsigned long long>(secret), leader);
  }
  const wchar_t* text() const noexcept { return text_.data(); }

 private:
  std::array<wchar_t, 64> text_{};
};

/// A new group. What the members start belongs to it. @returns not open: GetLastError() says why
inline owned_handle make_job(DWORD leader) noexcept {
  return owned_handle(::CreateJobObjectW(nullptr, job_name(leader).text()));
}
/// That of a leader that has not been waited for.
inline owned_handle find_job(DWORD leader) noexcept {
  return owned_handle(::OpenJobObjectW(JOB_OBJECT_ASSIGN_PROCESS, FALSE, job_name(leader).text()));
}

}  // namespace tandem::inline v0::io::platform
