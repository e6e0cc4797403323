// database.cpp: opening, copying and closing.
// SPDX-License-Identifier: MIT
#include <exception>
#include <filesystem>
#include <memory>
#include <system_error>
#include <tandem/blocking.hpp>
#include <tandem/io/sqlite/database.hpp>
#include <tandem/io/sqlite/errors.hpp>
#include <utility>

#include "sqlite/core.hpp"

namespace tandem::inline v0::io::sqlite {

namespace {

task<void> copied_to(std::shared_ptr<detail::core> from, std::string path) {
  auto copy = [&path](session& on) {
    const std::filesystem::path file(path);
    if (std::filesystem::exists(file)) {
      throw error(errc::misuse, "there is a file at " + path + ", where the copy was to go");
    }
    try {
      on.execute("VACUUM INTO ?", path);
    } catch (...) {
      std::error_code ignored;
      std::filesystem::remove(file, ignored);
      throw;
    }
  };
  const detail::call_ref given(copy);
  co_await from->run(detail::access::copy, given);
}

task<void> closed(std::shared_ptr<detail::core> of) { co_await of->close(); }

}  // namespace

task<database> database::open(std::string path, options given) {
  auto open = [&path, &given] { return std::make_shared<detail::core>(path, given); };
  co_return database(co_await blocking(open));
}

database::database(std::shared_ptr<detail::core> opened) noexcept : calls(std::move(opened)) {}
database::~database() = default;

std::shared_ptr<detail::core> database::shared_core() const {
  return std::static_pointer_cast<detail::core>(target());
}

task<void> database::backup_to(std::string path) const {
  if (target() == nullptr) detail::moved_from();
  return copied_to(shared_core(), std::move(path));
}

task<void> database::close() const {
  if (target() == nullptr) detail::moved_from();
  return closed(shared_core());
}

bool database::is_open() const noexcept {
  return target() != nullptr && static_cast<const detail::core&>(*target()).is_open();
}

bool database::reads_apart() const noexcept {
  return target() != nullptr && static_cast<const detail::core&>(*target()).reads_apart();
}

}  // namespace tandem::inline v0::io::sqlite
