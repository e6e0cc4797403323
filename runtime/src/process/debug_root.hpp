// debug_root.hpp: where the scripts of debuggers begin.
// SPDX-License-Identifier: MIT
//
// They find this object by its name, and from its members learn the layout of everything else
// (runtime/src/debuggers/README.md). Its own file, in a higher room, is compiled with debug
// information in every build, and knows all of these types.
#pragma once

#include <array>
#include <cstddef>
#include <thread>

#include <tandem/runtime.hpp>
#include <tandem/worker_pool.hpp>

namespace tandem::inline v0 {

class mutex;
class sleep_awaiter;

namespace detail {

class blocking_request;
class child_group;
class foreign_wait;
class join_leaf;
class joinable_root;
class leaf;
class promise_base;
class scope_environment;
class select_leaf;
class waiter;
class worker;
struct thread_context;

/// All but the first ones are null: only their types matter.
struct debug_root {
  const void* living = nullptr;  ///< the std::map whose keys are the runtimes of this process
  // One thread and its context: where the system gives each thread a block of its own, the way from
  // the one to the other is the same for all.
  const thread_context* a_context = nullptr;
  std::array<std::byte, sizeof(std::thread::id)> a_thread{};

  runtime* of_runtime = nullptr;
  runtime::impl* of_runtime_impl = nullptr;
  worker_pool::impl* of_pool_impl = nullptr;
  worker* of_worker = nullptr;
  thread_context* of_thread_context = nullptr;
  promise_base* of_promise = nullptr;
  joinable_root* of_joinable_root = nullptr;
  leaf* of_leaf = nullptr;
  join_leaf* of_join = nullptr;
  waiter* of_waiter = nullptr;
  sleep_awaiter* of_sleep = nullptr;
  mutex* of_mutex = nullptr;
  blocking_request* of_blocking = nullptr;
  child_group* of_child_group = nullptr;
  scope_environment* of_scope_environment = nullptr;
  foreign_wait* of_foreign_wait = nullptr;
  select_leaf* of_select = nullptr;
};

/// Written by whoever has the list of runtimes, under its lock.
extern debug_root for_debuggers;

}  // namespace detail
}  // namespace tandem::inline v0
