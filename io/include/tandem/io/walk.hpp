// walk.hpp: all entries of a tree of directories, read by several threads.
// SPDX-License-Identifier: MIT
//
// The kernel reads directories on a thread that waits, so threads of blocking() read them, some
// thousand entries a call; in between the caller's tasks have their turn with what was found.
// Steps directories/pump and the following: io/src/directory/README.md.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <tandem/config.hpp>
#include <tandem/io/directory.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/walk_batch.hpp>
#include <tandem/io/walk_options.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io {

namespace detail {

/// The visitor, whatever its type.
class TANDEM_IO_API walk_visitor {
 public:
  walk_visitor() noexcept = default;
  walk_visitor(const walk_visitor&) = delete;
  walk_visitor& operator=(const walk_visitor&) = delete;
  virtual ~walk_visitor();

  /// Several at once.
  virtual task<void> visit(const walk_batch& found) = 0;
};

template <class Visit>
class walk_visitor_of final : public walk_visitor {
 public:
  explicit walk_visitor_of(Visit&& visit) : visit_(std::move(visit)) {}

  task<void> visit(const walk_batch& found) override {
    if constexpr (std::is_void_v<std::invoke_result_t<Visit&, const walk_batch&>>) {
      std::invoke(visit_, found);
      co_return;
    } else {
      co_await std::invoke(visit_, found);
    }
  }

 private:
  Visit visit_;
};

/// @param folder  null: the current one
TANDEM_IO_API task<walk_summary> run_walk(file_handle* folder, std::string root,
                                          std::unique_ptr<walk_visitor> visitor,
                                          walk_options options);

template <class Visit>
task<walk_summary> begin_walk(file_handle* folder, std::string root, Visit&& visit,
                              walk_options options) {
  auto visitor = std::make_unique<walk_visitor_of<std::decay_t<Visit>>>(
      std::decay_t<Visit>(std::forward<Visit>(visit)));
  return run_walk(folder, std::move(root), std::move(visitor), std::move(options));
}

}  // namespace detail

/// Reads a directory and all that are beneath it, and gives the visitor all entries, in no order.
/// The root itself is none of them, and a file with several names (hard links) comes once for each.
///
///     std::atomic<std::uint64_t> files = 0;
///     co_await tandem::io::walk("/srv", [&](const tandem::io::walk_batch& found) {
///       for (const auto entry : found) files += entry.kind() == tandem::io::file_kind::regular;
///     });
///
/// A directory is opened relative to the one that it was found in, and never through a link that
/// has taken its place. What is added, removed or moved meanwhile may be told or not; nothing is
/// told twice, unless it is moved or has several names.
///
/// @param visit    called as visit(const walk_batch&), returns nothing or a task, which is awaited
///                 before more is read for it: so a slow visitor slows down the walk. Several calls
///                 run at once, as many as threads, each in a task of its own at the caller's home.
///                 The batch is valid until it has returned
/// @returns        how much there was
/// @throws         std::system_error naming the path of a directory that cannot be read, unless
///                 on_unreadable is set (the root always throws); what the visitor throws; of
///                 several one; operation_cancelled; as blocking(); std::invalid_argument for
///                 batch_entries 0
/// @cancellation   between two directories, or some thousand entries; the visitor is stopped, too
/// @resumes_on     the caller's home
/// @cost           threads of blocking(), a task and a buffer for each. Up to some 256 descriptors
template <class Visit>
  requires std::invocable<std::decay_t<Visit>&, const walk_batch&>
task<walk_summary> walk(std::string root, Visit&& visit, walk_options options = {}) {
  static_assert(
      tandem::detail::safe_in_co_await<Visit&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first, "
      "or capture by reference");
  return detail::begin_walk(nullptr, std::move(root), std::forward<Visit>(visit),
                            std::move(options));
}

/// As above, of what is in a directory that is open, and stays so until the await returns. The
/// entries' folders begin with its path.
template <class Visit>
  requires std::invocable<std::decay_t<Visit>&, const walk_batch&>
task<walk_summary> walk(directory& root, Visit&& visit, walk_options options = {}) {
  static_assert(
      tandem::detail::safe_in_co_await<Visit&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first, "
      "or capture by reference");
  return detail::begin_walk(&root.handle(), root.path(), std::forward<Visit>(visit),
                            std::move(options));
}

}  // namespace tandem::inline v0::io
