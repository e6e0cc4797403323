// posix_poison.hpp: has no name that Linux alone knows. Force-included into the posix rooms.
// SPDX-License-Identifier: MIT
//
// Where -DTANDEM_PLATFORM=posix is built on Linux, the sources of the platform rooms `posix` and
// `unix` begin with it (tandem_poison in the root's CMakeLists.txt): whoever writes one of these
// names there does not compile. What the headers of the system and of the library make of them was
// read before.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

// Macros as well as names: a macro that is poisoned while it is defined is warned of.
#undef SOCK_CLOEXEC
#undef SOCK_NONBLOCK
#undef MSG_NOSIGNAL
#undef MSG_MORE
#undef SYS_futex
#undef MADV_HUGEPAGE
#undef O_PATH
#undef CPU_SET
#undef CPU_ALLOC

#pragma GCC poison accept4 pipe2 eventfd epoll_create epoll_create1 epoll_ctl epoll_wait epoll_event
#pragma GCC poison timerfd_create timerfd_settime prctl gettid futex syscall SYS_futex
#pragma GCC poison SOCK_CLOEXEC SOCK_NONBLOCK MSG_NOSIGNAL MSG_MORE
#pragma GCC poison MADV_HUGEPAGE CPU_SET CPU_ALLOC sched_getaffinity sched_setaffinity
#pragma GCC poison O_PATH statx preadv2 pwritev2 fallocate sigtimedwait

// What many other systems have not, and the rooms ask for by #ifdef: here the other branch is
// built.
#undef SO_DOMAIN
#undef SO_PROTOCOL
#undef O_TMPFILE
