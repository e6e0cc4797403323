// path_awaiter.hpp: what the awaiters of actions on paths have in common.
// SPDX-License-Identifier: MIT
//
// As all that is asked of files (detail/file_awaiter.hpp): by the ring of a completion thread where
// it has an entry for it, else by a thread of blocking().
#pragma once

#include <coroutine>
#include <string>
#include <system_error>
#include <tandem/io/detail/file_awaiter.hpp>
#include <tandem/io/detail/path_request.hpp>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io::detail {

class TANDEM_IO_API path_awaiter : public file_awaiter {
 public:
  bool await_ready() noexcept;
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return suspend(self.promise());
  }

 protected:
  /// @param folder  null: the process's current one. Stays open until the await returns
  /// @param flags   path_flag
  path_awaiter(file_action action, file_handle* folder, std::string path, int flags = 0,
               unsigned permissions = 0) noexcept;

  /// The second path that some actions have. @param folder  as above; it may be the same one
  void lead_to(file_handle* folder, std::string path) noexcept;
  /// As late as the await begins: awaiters may be moved before.
  void answer_to(void* answer) noexcept { what_.answer = answer; }
  /// As of file_awaiter; the second folder is in use until then, too.
  std::error_code end();
  /// @param entry  beneath the path: what it was that failed
  [[noreturn]] void throw_failure(const std::error_code& failure,
                                  const std::string& entry = {}) const;

 private:
  bool suspend(tandem::detail::promise_base& waiting);

  path_request what_;
  file_handle* other_folder_ = nullptr;
  int flags_;
  unsigned permissions_;
  bool has_other_ = false;
  bool is_other_in_use_ = false;
  std::string path_;
  std::string other_path_;
};

}  // namespace tandem::inline v0::io::detail
