// foreign_work.hpp: work of other libraries on executors of tandem.
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>

#include <tandem/config.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0::detail {

/// Until end_foreign_work() the runtime and the executor wait for what is still to come, as for a
/// task. @returns false: the executor is closed, and nothing was counted
TANDEM_API bool begin_foreign_work(executor& home) noexcept;
TANDEM_API void end_foreign_work(executor& home) noexcept;

/// A function that was posted has thrown: runtime_options::on_unhandled_exception hears of it, or
/// it is reported, and the process ends.
TANDEM_API void foreign_work_failed(executor& home, const std::exception_ptr& failure) noexcept;

}  // namespace tandem::inline v0::detail
