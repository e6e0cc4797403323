// child_start.cpp: CreateProcessW(), with no handle that was not asked for.
// SPDX-License-Identifier: MIT
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "platform/processes.hpp"
#include "platform/windows/child_job.hpp"
#include "platform/windows/command_line.hpp"
#include "platform/windows/owned_handle.hpp"
#include "platform/windows/system.hpp"
#include "platform/windows/wide_text.hpp"

namespace tandem::inline v0::io::platform {

namespace {

start_failure failed_at(process_step step, std::error_code error) noexcept {
  start_failure made;
  made.step = step;
  made.error = error;
  return made;
}
start_failure failed_at(process_step step, std::errc error) noexcept {
  return failed_at(step, std::make_error_code(error));
}
start_failure failed_at(process_step step) noexcept { return failed_at(step, last_error()); }

/// Copies of the standard streams that a child may inherit, here as long as it takes to start it.
class standard_handles {
 public:
  /// @returns  false: GetLastError() says why
  bool fill(std::span<const child_file> files) noexcept {
    const HANDLE self = ::GetCurrentProcess();
    for (const child_file& each : files) {
      if (!detail::is_descriptor(each.from)) continue;
      HANDLE copy = nullptr;
      if (::DuplicateHandle(self, handle_of(each.from), self, &copy, 0, TRUE,
                            DUPLICATE_SAME_ACCESS) == 0) {
        return false;
      }
      owned_[each.number] = owned_handle(copy);
      list_[count_++] = copy;
    }
    return true;
  }
  HANDLE of(std::size_t number) const noexcept { return owned_.at(number).get(); }
  HANDLE* list() noexcept { return list_.data(); }
  std::size_t count() const noexcept { return count_; }

 private:
  std::array<owned_handle, 3> owned_;
  std::array<HANDLE, 3> list_{};
  std::size_t count_ = 0;
};

/// What a child inherits: nothing else, whatever can be inherited here.
class inherited_list {
 public:
  inherited_list() = default;
  inherited_list(const inherited_list&) = delete;
  inherited_list& operator=(const inherited_list&) = delete;
  ~inherited_list() {
    if (list_ != nullptr) ::DeleteProcThreadAttributeList(list_);
  }
  /// pre: not empty; `handles` stay where they are. @returns false: GetLastError() says why
  /// @throws  std::bad_alloc
  bool set(HANDLE* handles, std::size_t count) {
    SIZE_T bytes = 0;
    (void)::InitializeProcThreadAttributeList(nullptr, 1, 0, &bytes);
    room_ = std::make_unique<std::byte[]>(bytes);
    auto* const made = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(room_.get());  // NOLINT
    if (::InitializeProcThreadAttributeList(made, 1, 0, &bytes) == 0) return false;
    list_ = made;
    return ::UpdateProcThreadAttribute(list_, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles,
                                       count * sizeof *handles, nullptr, nullptr) != 0;
  }
  LPPROC_THREAD_ATTRIBUTE_LIST get() const noexcept { return list_; }

 private:
  std::unique_ptr<std::byte[]> room_;
  LPPROC_THREAD_ATTRIBUTE_LIST list_ = nullptr;
};

bool is_absolute(std::wstring_view path) noexcept {
  return path.starts_with(L'\\') || path.starts_with(L'/') || path.substr(0, 2).ends_with(L':');
}

class child_start {
 public:
  explicit child_start(const child_plan& plan) noexcept : plan_(plan) {}

  /// @throws  std::bad_alloc
  start_failure run(started_child& made);

 private:
  start_failure refuse_what_is_missing() const noexcept;
  start_failure find_directory();
  /// The first of the programs that is one.
  start_failure create();
  /// @returns  ERROR_SUCCESS, or why it cannot be started
  DWORD create_of(const std::wstring& program);
  /// pre: it is to be in one, and has not begun
  start_failure join_group(started_child& made) noexcept;

  const child_plan& plan_;
  std::wstring line_;
  std::wstring environment_;
  std::wstring directory_;
  standard_handles streams_;
  inherited_list inherited_;
  owned_handle process_;
  owned_handle thread_;
  DWORD id_ = 0;
};

start_failure child_start::refuse_what_is_missing() const noexcept {
  if (plan_.group == process_group::kind::session) {
    return failed_at(process_step::session, std::errc::not_supported);
  }
  for (const child_file& each : plan_.files) {
    if (each.number >= 3) return failed_at(process_step::descriptors, std::errc::not_supported);
  }
  return {};
}

start_failure child_start::find_directory() {
  if (plan_.directory == nullptr) return {};
  if (!to_wide(plan_.directory, directory_)) {
    return failed_at(process_step::directory, std::errc::invalid_argument);
  }
  const DWORD attributes = ::GetFileAttributesW(directory_.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return failed_at(process_step::directory);
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return {};
  return failed_at(process_step::directory, std::errc::not_a_directory);
}

DWORD child_start::create_of(const std::wstring& program) {
  const DWORD attributes = ::GetFileAttributesW(program.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return ::GetLastError();
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return ERROR_ACCESS_DENIED;
  if (is_batch_file(program)) return ERROR_BAD_EXE_FORMAT;
  const bool has_streams = streams_.count() != 0;
  STARTUPINFOEXW how{};
  how.StartupInfo.cb = has_streams ? sizeof how : sizeof how.StartupInfo;
  how.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  how.StartupInfo.hStdInput = streams_.of(0);
  how.StartupInfo.hStdOutput = streams_.of(1);
  how.StartupInfo.hStdError = streams_.of(2);
  how.lpAttributeList = inherited_.get();
  DWORD flags = CREATE_UNICODE_ENVIRONMENT;
  // It begins in its group: what it starts will be there, too.
  if (plan_.group != process_group::kind::inherited) flags |= CREATE_SUSPENDED;
  if (has_streams) flags |= EXTENDED_STARTUPINFO_PRESENT;
  if (plan_.group == process_group::kind::own) flags |= CREATE_NEW_PROCESS_GROUP;
  std::wstring line = line_;  // it may be written to
  PROCESS_INFORMATION made{};
  if (::CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, has_streams ? TRUE : FALSE,
                       flags, environment_.data(),
                       directory_.empty() ? nullptr : directory_.c_str(), &how.StartupInfo,
                       &made) == 0) {
    return ::GetLastError();
  }
  process_ = owned_handle(made.hProcess);
  thread_ = owned_handle(made.hThread);
  id_ = made.dwProcessId;
  return ERROR_SUCCESS;
}

start_failure child_start::create() {
  // As elsewhere: what may not be executed ends no search, and is what is told at its end.
  DWORD why = ERROR_FILE_NOT_FOUND;
  for (const char* const* each = plan_.programs; *each != nullptr; ++each) {
    std::wstring program;
    if (!to_wide(*each, program)) return failed_at(process_step::exec, std::errc::invalid_argument);
    // One with a folder is looked up from the child's.
    if (!directory_.empty() && !is_absolute(program)) program = directory_ + L"\\" + program;
    lift_limit(program);
    for (const wchar_t* const extension : {L".exe", L""}) {
      const DWORD answer = create_of(program + extension);
      if (answer == ERROR_SUCCESS) return {};
      if (answer == ERROR_FILE_NOT_FOUND || answer == ERROR_PATH_NOT_FOUND) continue;
      const bool is_no_place = answer == ERROR_INVALID_NAME || answer == ERROR_BAD_PATHNAME ||
                               answer == ERROR_FILENAME_EXCED_RANGE || answer == ERROR_NOT_READY;
      if (why == ERROR_FILE_NOT_FOUND || !is_no_place) why = answer;
      if (answer == ERROR_BAD_EXE_FORMAT) {
        return failed_at(process_step::exec, error_of(number_of(why)));
      }
    }
  }
  return failed_at(process_step::exec, error_of(number_of(why)));
}

start_failure child_start::join_group(started_child& made) noexcept {
  const bool leads = plan_.group == process_group::kind::own;
  owned_handle job = leads ? make_job(id_) : find_job(static_cast<DWORD>(plan_.leader));
  if (!job.is_open()) {
    return leads ? failed_at(process_step::group)
                 : failed_at(process_step::group, std::errc::operation_not_permitted);
  }
  if (::AssignProcessToJobObject(job.get(), process_.get()) == 0 ||
      ::ResumeThread(thread_.get()) == static_cast<DWORD>(-1)) {
    return failed_at(process_step::group);
  }
  if (leads) made.group = descriptor_of(job.release());
  return {};
}

start_failure child_start::run(started_child& made) {
  if (const start_failure failed = refuse_what_is_missing()) return failed;
  if (!to_command_line(plan_.arguments, line_) ||
      !to_environment_block(plan_.environment, environment_)) {
    return failed_at(process_step::exec, std::errc::invalid_argument);
  }
  if (const start_failure failed = find_directory()) return failed;
  if (!streams_.fill(plan_.files)) return failed_at(process_step::descriptors);
  if (streams_.count() != 0 && !inherited_.set(streams_.list(), streams_.count())) {
    return failed_at(process_step::create);
  }
  if (const start_failure failed = create()) return failed;
  if (plan_.group != process_group::kind::inherited) {
    if (const start_failure failed = join_group(made)) {
      (void)::TerminateProcess(process_.get(), 1);
      return failed;
    }
  }
  made.id = static_cast<int>(id_);
  made.end = descriptor_of(process_.release());
  return {};
}

}  // namespace

start_failure start_child(const child_plan& plan, started_child& made) noexcept {
  try {
    return child_start(plan).run(made);
  } catch (const std::bad_alloc&) {
    return failed_at(process_step::create, std::errc::not_enough_memory);
  }
}

}  // namespace tandem::inline v0::io::platform
