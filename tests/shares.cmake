# shares.cmake: which tests the builds take that have no time for all of them.
# SPDX-License-Identifier: MIT
#
# TANDEM_TESTS names a share, or all. A build that takes a share registers no test that is not in it; their executables
# can still be built by name. A name that no test has stops the configuration (tandem_check_shares).

# Where threads meet: all that ThreadSanitizer can judge. Stress tests and tests of io belong to it without being named.
# What is left out runs by one thread at a time, or repeats with other words what a stress test does.
set(tandem_share_threads
  adaptive_pool_test
  blocking_test
  border_race_test
  channel_test
  crew_test
  driven_loop_test
  event_test
  fair_queue_test
  fork_join_test
  fork_policy_test
  frame_memory_test
  future_test
  gathering_test
  graph_search_test
  hooks_test
  insight_test
  latch_test
  metrics_test
  mutex_test
  parallel_for_test
  parallel_invoke_test
  parallel_sort_test
  priority_test
  race_test
  reconfigure_test
  registry_channel_test
  registry_flow_test
  registry_sync_test
  runtime_test
  search_test
  seen_set_test
  semaphore_test
  single_thread_executor_test
  spawn_test
  stop_test
  strand_test
  submit_test
  task_count_test
  task_scope_test
  thread_factory_test
  timer_test
  trace_test
  virtual_clock_test
  wait_group_test
  watchdog_test
  when_all_test
  when_any_test
  worker_pool_test)

# Coroutine forms that g++ 12 compiles riskily: temporaries, callables, moved and immovable awaiters within co_await,
# frames without symmetric transfer. A new awaitable's test belongs here, if the registry's rows in this share do not have its forms.
set(tandem_share_forms
  blocking_test
  callback_stream_test
  calls_test
  channel_test
  context_test
  depth_test
  finally_test
  for_each_concurrent_test
  fork_join_test
  framing_test
  from_callback_test
  future_test
  invoke_test
  mutex_test
  parallel_for_test
  parallel_reduce_test
  race_test
  receive_test
  registry_combinators_test
  registry_flow_test
  registry_io_test
  registry_item_streams_test
  registry_resources_test
  registry_select_test
  retry_test
  select_test
  send_file_test
  shielded_test
  spawn_test
  stream_leave_test
  stream_test
  task_scope_test
  task_test
  tcp_test
  vectored_test
  when_all_test
  when_any_test
  with_stop_test
  zero_copy_test)

# What depends on the rooms of the platform: waiting and waking, threads, clocks, memory, CPUs, fork(), and all of io but
# what is made of streams alone, which they only carry. The others run what these rooms have no part in.
set(tandem_share_platform
  adaptive_pool_test
  backend_choice_test
  backend_test
  blocking_test
  buffers_in_flight_test
  caller_runs_test
  completion_growth_test
  completion_pool_test
  completion_threads_test
  crew_test
  datagram_test
  directory_test
  driven_loop_test
  driven_runtime_test
  event_test
  file_test
  foreign_loop_test
  fork_policy_test
  frame_memory_test
  frame_regions_test
  futex_stress
  happy_eyeballs_test
  incoming_test
  mutex_test
  platform_test
  process_test
  readiness_test
  receive_test
  reconfigure_test
  resolve_test
  runtime_platform_test
  runtime_stress
  runtime_test
  send_file_test
  single_thread_executor_test
  sizing_test
  slow_names_test
  spreading_test
  tcp_cancel_test
  tcp_native_test
  tcp_options_test
  tcp_test
  terminal_test
  thread_factory_test
  tick_clock_test
  timer_stress
  timer_test
  udp_test
  unix_socket_test
  vectored_test
  virtual_clock_test
  walk_test
  worker_pool_test
  worker_port_test)

# All that AddressSanitizer can judge is everything but these: searches whose templates take longest to compile, and share
# their memory's code with search_test; and races (NAME_stress), which ThreadSanitizer looks at: it reports memory that is gone, too.
set(tandem_not_in_memory
  count_tree_test
  graph_search_test
  iterative_deepening_test)

# Foreign programs talk to one task at a time. The others are about options and what a call makes of its arguments; their rooms'
# threads meet in the stress tests and in the registry's rows.
set(tandem_not_in_threads
  any_stream_test
  copy_test
  directory_test
  framing_test
  interop_test
  tcp_options_test
  terminal_test
  tls_matrix_test
  tls_options_test
  tls_peers_test)

# Beast, WebSocket and TLS in one file take a compiler minutes: whole builds alone have them, in every preset.
set(tandem_whole_only
  beast_stress
  beast_test)

# tandem_in_share(VARIABLE NAME LABEL): whether this build takes the test NAME.
function(tandem_in_share variable name label)
  set_property(GLOBAL APPEND PROPERTY tandem_known_tests ${name})
  set(taken FALSE)
  if(name IN_LIST tandem_whole_only)
    set(taken ${TANDEM_WHOLE_TESTS})
  elseif(TANDEM_TESTS STREQUAL all)
    set(taken TRUE)
  elseif(name IN_LIST tandem_share_${TANDEM_TESTS})
    set(taken TRUE)
  elseif(TANDEM_TESTS STREQUAL memory AND NOT name IN_LIST tandem_not_in_memory AND NOT name MATCHES "_stress$")
    set(taken TRUE)
  elseif(TANDEM_TESTS STREQUAL threads AND label MATCHES "^(stress|io)$" AND NOT name IN_LIST tandem_not_in_threads)
    set(taken TRUE)
  endif()
  set(${variable} ${taken} PARENT_SCOPE)
endfunction()

# After all tests are known, in a build that takes a share.
function(tandem_check_shares)
  if(TANDEM_TESTS STREQUAL all)
    return()
  endif()
  get_property(known GLOBAL PROPERTY tandem_known_tests)
  foreach(name IN LISTS tandem_share_${TANDEM_TESTS} tandem_not_in_memory tandem_not_in_threads tandem_whole_only)
    if(NOT name IN_LIST known)
      message(FATAL_ERROR "tests/shares.cmake: this build knows no test ${name}")
    endif()
  endforeach()
endfunction()
