# windows_tests.cmake: the tests of tandem::io that are built for Windows.
# SPDX-License-Identifier: MIT
#
# Those that are not call Linux themselves: descriptors of others (readiness, foreign loops), files by the system's calls,
# limits of the process, refused memory.
tandem_add_test(endpoint_test SOURCES net/endpoint_test.cpp operation/operation_table_test.cpp umbrella_test.cpp LIBS tandem::io)
tandem_add_io_test(tcp_test chosen SOURCES net/tcp_test.cpp net/tcp_shutdown_test.cpp net/one_at_a_time_test.cpp LIBS tandem::io)
tandem_add_io_test(tcp_cancel_test chosen SOURCES net/tcp_cancel_test.cpp LIBS tandem::io)
tandem_add_io_test(tcp_options_test chosen SOURCES net/tcp_options_test.cpp LIBS tandem::io)
tandem_add_io_test(vectored_test chosen SOURCES net/vectored_test.cpp LIBS tandem::io)
tandem_add_io_test(incoming_test chosen SOURCES receive/incoming_test.cpp LIBS tandem::io)
tandem_add_io_test(everywhere_test chosen SOURCES file/everywhere_test.cpp LIBS tandem::io)
tandem_add_io_test(resolve_test chosen SOURCES net/resolve_test.cpp LIBS tandem::io)
tandem_add_io_test(serve_test chosen SOURCES stream/serve_test.cpp stream/serve_limit_test.cpp
  stream/serve_any_test.cpp stream/serve_own_listener_test.cpp LIBS tandem::io)
tandem_add_io_test(any_stream_test chosen SOURCES stream/any_stream_test.cpp stream/any_stream_move_test.cpp
  stream/any_stream_forms_test.cpp LIBS tandem::io)
tandem_add_io_test(buffered_test chosen SOURCES stream/buffered_test.cpp LIBS tandem::io)
tandem_add_io_test(framing_test chosen SOURCES stream/framing_test.cpp LIBS tandem::io)
tandem_add_io_test(copy_test chosen SOURCES stream/copy_test.cpp LIBS tandem::io)
tandem_add_io_test(spreading_test chosen SOURCES engine/spreading_test.cpp LIBS tandem::io TIMEOUT 240)
tandem_add_io_test(completion_growth_test chosen SOURCES growth/completion_growth_test.cpp
  pool/completion_metrics_test.cpp LIBS tandem::io TIMEOUT 240)
tandem_add_io_test(caller_runs_test chosen SOURCES pool/caller_runs_test.cpp LIBS tandem::io)
tandem_add_io_test(driven_runtime_test chosen SOURCES pool/driven_runtime_test.cpp LIBS tandem::io)
tandem_add_test(engine_parts_test SOURCES ready/hand_overs_test.cpp ready/held_queue_test.cpp
  engine/source_list_test.cpp engine/thread_loads_test.cpp ring/buffer_stock_test.cpp ring/gather_choice_test.cpp ring/idle_trim_test.cpp
  ring/ring_sleep_test.cpp LIBS tandem::io)
target_include_directories(engine_parts_test PRIVATE ${PROJECT_SOURCE_DIR}/io/src)
tandem_add_test(growth_rule_test SOURCES growth/growth_rule_test.cpp growth/growth_control_test.cpp
  growth/line_limit_test.cpp LIBS tandem::io)
target_include_directories(growth_rule_test PRIVATE ${PROJECT_SOURCE_DIR}/io/src)
tandem_add_io_test(file_test chosen SOURCES file/file_test.cpp file/file_cancel_test.cpp file/whole_file_test.cpp
  platform/open_beneath_test.cpp iocp/file_port_test.cpp LIBS tandem::io)
