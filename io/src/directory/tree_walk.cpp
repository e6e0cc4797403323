// tree_walk.cpp: takes a directory, opens it, reads it, notes those that are in it.
// SPDX-License-Identifier: MIT
#include "directory/tree_walk.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>
#include <tandem/blocking.hpp>
#include <tandem/cpu_count.hpp>
#include <tandem/stop.hpp>
#include <utility>

#include "platform/directories.hpp"
#include "platform/error_number.hpp"

namespace tandem::inline v0::io {

namespace {

/// Then a directory is not kept open for what was found in it, which costs more calls later.
constexpr unsigned most_open = 200;

std::string joined(const std::string& folder, std::string_view name) {
  std::string path;
  path.reserve(folder.size() + 1 + name.size());  // of a deep tree it is long
  path = folder;
  if (path.empty() || !platform::is_separator(path.back())) path += '/';
  return path.append(name);
}

}  // namespace

tree_walk::tree_walk(detail::file_handle* folder, std::string root, detail::walk_visitor& visitor,
                     walk_options&& options)
    : folder_(folder),
      root_(std::move(root)),
      visitor_(visitor),
      options_(std::move(options)),
      most_pumps_(options_.threads != 0 ? options_.threads : usable_cpus()) {
  found_folder& first = pending_.emplace_back();
  first.path = root_;
}

int tree_walk::link_flags() const noexcept {
  return options_.links == symlinks::follow ? detail::follows_links : 0;
}

task<void> tree_walk::pump(task_scope& scope) {
  reading at;
  walk_batch found;
  bool may_go_on = true;
  while (may_go_on) {
    const auto call = [&] { return collect(at, found); };
    may_go_on = co_await blocking(call);
    bring_others(scope);
    if (!found.empty()) co_await visitor_.visit(found);
  }
  pumps_.fetch_sub(1, std::memory_order_relaxed);
}

void tree_walk::bring_others(task_scope& scope) {
  // Relaxed: what is to be read is looked for under the lock. A pump that finds nothing ends, and
  // nothing is left behind by that: whoever adds something goes on itself.
  std::size_t wanted = pending_count_.load(std::memory_order_relaxed);
  unsigned pumps = pumps_.load(std::memory_order_relaxed);
  while (wanted != 0 && pumps < most_pumps_) {
    if (!pumps_.compare_exchange_weak(pumps, pumps + 1, std::memory_order_relaxed)) continue;
    scope.spawn(pump(scope));
    --wanted;
    ++pumps;
  }
}

bool tree_walk::has_work_for_others(const reading& at) const noexcept {
  const std::size_t own = at.directory != nullptr ? 0 : 1;
  return pending_count_.load(std::memory_order_relaxed) > own &&
         pumps_.load(std::memory_order_relaxed) < most_pumps_;
}

/// directories/read.
bool tree_walk::collect(reading& at, walk_batch& found) {
  found.clear();
  do {
    throw_if_stopped();
    if (at.directory == nullptr && !take(at)) return false;
    read(at, found);
  } while (found.size() < options_.batch_entries && !has_work_for_others(at));
  return true;
}

/// @returns  false: there is none
bool tree_walk::take(reading& at) {
  while (true) {
    found_folder next;
    {
      const std::lock_guard guard(lock_);
      if (pending_.empty()) return false;
      next = std::move(pending_.back());
      pending_.pop_back();
      pending_count_.store(pending_.size(), std::memory_order_relaxed);
    }
    if (open(next, at)) return true;
    throw_if_stopped();
  }
}

/// directories/open. @returns  false: it is not to be read
bool tree_walk::open(found_folder& what, reading& at) {
  const std::int32_t outcome = open_one(what);
  const bool is_root = what.depth == 0;
  if (outcome < 0) {
    const bool is_none = outcome == -ENOENT || outcome == -ENOTDIR || outcome == -ELOOP;
    if (is_none && !is_root) {
      vanished_.fetch_add(1, std::memory_order_relaxed);
    } else {
      could_not_read(what.path, what.depth, outcome);
    }
    return false;
  }
  at.directory = std::make_shared<const open_folder>(detail::descriptor_of(outcome), open_);
  if (is_root) root_folder_ = at.directory;
  if (!may_be_entered(at, what)) {
    at.directory.reset();
    return false;
  }
  at.path = std::move(what.path);
  at.depth = what.depth;
  return true;
}

std::int32_t tree_walk::open_one(const found_folder& what) const {
  if (what.depth == 0) {
    const bool is_given = folder_ != nullptr;
    return platform::open_listing(is_given ? folder_->descriptor() : no_descriptor,
                                  is_given ? "." : what.path.c_str(), detail::follows_links);
  }
  const char* const name = what.path.c_str() + what.name_at;
  if (what.above == nullptr) return open_by_path(what.path.substr(root_.size()));
  return platform::open_listing(what.above->directory.native_handle(), name, link_flags());
}

/// Each component relative to the one before, so that no link is followed here either.
std::int32_t tree_walk::open_by_path(const std::string& relative) const {
  owned_descriptor here;
  native_descriptor above = root_folder_->directory.native_handle();
  for (std::size_t at = 0; at < relative.size();) {
    while (at < relative.size() && platform::is_separator(relative[at])) ++at;
    std::size_t end = at;
    while (end < relative.size() && !platform::is_separator(relative[end])) ++end;
    const std::string name = relative.substr(at, end - at);
    const std::int32_t outcome = platform::open_listing(above, name.c_str(), link_flags());
    if (outcome < 0) return outcome;
    here = owned_descriptor(detail::descriptor_of(outcome));
    above = here.native_handle();
    at = end;
  }
  return static_cast<std::int32_t>(here.release());
}

/// directories/circle. No other device either, where that is asked for.
bool tree_walk::may_be_entered(reading& at, const found_folder& what) {
  const bool follows = options_.links == symlinks::follow;
  if (!follows && !options_.stays_on_device) return true;
  file_status about;
  const native_descriptor opened = at.directory->directory.native_handle();
  const std::int32_t outcome = platform::entry_status(opened, ".", detail::follows_links, about);
  if (outcome != 0) {
    could_not_read(what.path, what.depth, outcome);
    return false;
  }
  if (options_.stays_on_device && what.depth != 0 && about.device != what.device) return false;
  at.device = about.device;
  if (!follows) return true;
  const identity own(about.device, about.inode);
  at.before_link = what.is_link ? all_above(what) : what.before_link;
  if (at.before_link != nullptr && at.before_link->contains(own)) return false;
  at.since_link = std::make_shared<const level>(own, what.is_link ? nullptr : what.since_link);
  return true;
}

/// directories/circle.
std::shared_ptr<const tree_walk::identities> tree_walk::all_above(const found_folder& what) {
  auto made = what.before_link != nullptr ? std::make_shared<identities>(*what.before_link)
                                          : std::make_shared<identities>();
  for (const level* each = what.since_link.get(); each != nullptr; each = each->above.get()) {
    made->insert(each->own);
  }
  return made;
}

tree_walk::level::~level() {
  // One after the other: a chain may be as long as a tree is deep. Of one that others hold, too,
  // the last of them does the rest.
  while (above != nullptr && above.use_count() == 1) {
    std::shared_ptr<const level> next = above->above;
    above = std::move(next);
  }
}

void tree_walk::read(reading& at, walk_batch& found) {
  detail::entry_list& entries = found.open_group(at.path, at.depth + 1);
  const std::size_t first = entries.size();
  const std::int32_t outcome =
      platform::read_entries(at.directory->directory.native_handle(), entries);
  for (std::size_t i = first; i < entries.size(); ++i) look_at(at, found, i);
  entries_.fetch_add(entries.size() - first, std::memory_order_relaxed);
  if (outcome > 0) return;
  at.directory.reset();
  if (outcome < 0) return could_not_read(at.path, at.depth, outcome);
  directories_.fetch_add(1, std::memory_order_relaxed);
}

void tree_walk::look_at(const reading& at, walk_batch& found, std::size_t index) {
  detail::entry_list& entries = found.entries();
  const bool is_link = entries[index].kind == file_kind::symlink;
  const bool follows = is_link && options_.links == symlinks::follow;
  if (options_.with_status || follows) {
    const native_descriptor folder = at.directory->directory.native_handle();
    const char* const name = entries.name_of(entries[index]).data();  // a zero follows it
    detail::walk_status known;
    std::int32_t outcome = platform::entry_status(folder, name, link_flags(), known.status);
    if (outcome == 0 && follows) entries.set_kind(index, known.status.kind);
    if (outcome != 0 && follows) outcome = platform::entry_status(folder, name, 0, known.status);
    known.is_known = outcome == 0;
    if (options_.with_status) found.statuses().push_back(known);
  }
  if (entries[index].kind == file_kind::directory) note(at, found.entry(index), is_link);
}

/// It is to be read later.
void tree_walk::note(const reading& at, const walk_entry& directory, bool is_link) {
  if (options_.max_depth != 0 && at.depth + 1 >= options_.max_depth) return;
  if (options_.enters && !options_.enters(directory)) return;
  found_folder made;
  made.path = joined(at.path, directory.name());
  made.name_at = made.path.size() - directory.name().size();
  made.depth = at.depth + 1;
  made.is_link = is_link;
  made.device = at.device;
  made.since_link = at.since_link;
  made.before_link = at.before_link;
  if (open_.load(std::memory_order_relaxed) < most_open) made.above = at.directory;
  const std::lock_guard guard(lock_);
  pending_.push_back(std::move(made));
  pending_count_.store(pending_.size(), std::memory_order_relaxed);
}

void tree_walk::could_not_read(const std::string& path, unsigned depth, std::int32_t outcome) {
  const std::error_code failure = platform::error_of(-outcome);
  if (depth == 0 || !options_.on_unreadable) {
    throw std::system_error(failure, "walk \"" + path + '"');
  }
  unreadable_.fetch_add(1, std::memory_order_relaxed);
  options_.on_unreadable(path, failure);
}

walk_summary tree_walk::summary() const noexcept {
  walk_summary made;
  made.entries = entries_.load(std::memory_order_relaxed);
  made.directories = directories_.load(std::memory_order_relaxed);
  made.unreadable = unreadable_.load(std::memory_order_relaxed);
  made.vanished = vanished_.load(std::memory_order_relaxed);
  return made;
}

}  // namespace tandem::inline v0::io
