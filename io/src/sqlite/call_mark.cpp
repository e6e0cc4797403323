// call_mark.cpp: who is refused, because what he asks for waits for him.
// SPDX-License-Identifier: MIT
#include "sqlite/call_mark.hpp"

#include <string>
#include <tandem/io/sqlite/errors.hpp>

namespace tandem::inline v0::io::sqlite::detail {

namespace {

/// The innermost one around the calling task that fulfils it; null: none.
template <class Condition>
const call_mark* held_around(const Condition& is_such) noexcept {
  for (const call_mark* each = marks().get().get(); each != nullptr; each = each->outer()) {
    if (each->is_held() && is_such(*each)) return each;
  }
  return nullptr;
}

const char* name_of(call_mark::kind what) noexcept {
  switch (what) {
    case call_mark::kind::transaction: return "transaction";
    case call_mark::kind::change: return "write()";
    case call_mark::kind::snapshot: return "read()";
    case call_mark::kind::inside: return "run()";
  }
  return "call";
}

[[noreturn]] void refuse(const char* asked, const call_mark& around) {
  throw error(errc::nested, std::string(asked) + " from within its own " + name_of(around.what()));
}

}  // namespace

const context_local<call_marks>& marks() noexcept {
  static const context_local<call_marks> only;
  return only;
}

call_mark::call_mark(const core& of, kind what, const transaction_state* within)
    : of_(&of), within_(within), outer_(marks().get()), what_(what) {}

void refuse_reading_within(const core& of) {
  const auto reads = [&of](const call_mark& each) {
    return each.of() == &of && each.what() == call_mark::kind::snapshot;
  };
  if (const call_mark* const around = held_around(reads))
    refuse("the database was asked for", *around);
}

void refuse_writing_within(const core& of) {
  const auto is_its = [&of](const call_mark& each) { return each.of() == &of; };
  if (const call_mark* const around = held_around(is_its))
    refuse("the database was asked for", *around);
}

void refuse_closing_within(const core& of) {
  const auto is_its = [&of](const call_mark& each) { return each.of() == &of; };
  if (const call_mark* const around = held_around(is_its))
    refuse("the database was closed", *around);
}

void refuse_within(const transaction_state& of) {
  const auto is_its = [&of](const call_mark& each) { return each.within() == &of; };
  if (const call_mark* const around = held_around(is_its))
    refuse("the transaction was asked for", *around);
}

}  // namespace tandem::inline v0::io::sqlite::detail
