// asio_library.hpp: the part of standalone Asio that the backend is built on.
// SPDX-License-Identifier: MIT
//
// Asio is a library of headers: its inline functions would be merged at link time with those of an
// Asio in the user's program, of whatever version. So it lives here in a namespace of its own; the
// names of its files are no macro's business. No source of another room includes it.
#pragma once

#undef ASIO_SEPARATE_COMPILATION
#undef ASIO_DYN_LINK
#ifndef ASIO_STANDALONE
#define ASIO_STANDALONE
#endif
#ifndef ASIO_NO_DEPRECATED
#define ASIO_NO_DEPRECATED
#endif
#define asio tandem_private_asio
// The one function of those headers that is in no namespace.
#define asio_detail_posix_thread_function tandem_private_asio_thread_function

#include <asio/basic_waitable_timer.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/basic_stream_descriptor.hpp>
