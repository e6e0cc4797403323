// tlsload.c: closed-loop load generator for TLS 1.3 servers: one thread, OpenSSL over epoll.
// SPDX-License-Identifier: MIT
//
//   tlsload -m MODE -p PORT [-c CONNECTIONS] [-s BYTES] [-d SECONDS] [-w WARM_UP] [-P SERVER_PID]
//           [-r BYTES]
//
// echo     each connection keeps one message of -s bytes in flight, and checks what comes back
// down     asks once by an HTTP request and counts what comes; with -r BYTES an answer has a header
//          and so many bytes, and is asked for again when it is there
// up       writes 64 KiB after 64 KiB
// full     handshakes without an earlier session; then the client says close_notify and the server
//          closes, with or without its own
// resumed  the same with the newest ticket that the server has given to this place
//
// One line of JSON on standard output. The server's CPU time is read from /proc. A connection that
// is not TLS 1.3 with this suite and group, or is resumed where it should not be (or is not where
// it should be), ends the program with 1; so do ten seconds without any progress.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SUITE "TLS_AES_128_GCM_SHA256"
#define GROUP "X25519"
#define BULK (64 * 1024)
#define TURN 16 // records of one connection before the next one's

enum mode { ECHO, DOWN, UP, FULL, RESUMED };
static const char *const mode_names[] = {"echo", "down", "up", "full", "resumed"};

struct connection {
  int fd;
  SSL *ssl;
  SSL_SESSION *session;    // to be resumed
  int ready;               // the handshake is over
  int again;               // has more to do although its socket may not say so
  unsigned watched;        // epoll's events
  size_t got;              // of the message or answer
  int64_t wanted;          // bytes of the answer, its header included; 0: not known yet
  uint64_t begun;          // of the message or handshake, in ns
};

static enum mode mode = ECHO;
static int connections = 1, port, server_pid;
static size_t message_bytes = 64;
static long long answer_bytes;
static double seconds = 1, warm_up = 0.2;

static int poller;
static SSL_CTX *context;
static struct connection *all;
static char *message, *buffer;
static uint64_t count, bytes, progress; // since the measurement began; all that ever happened
static int ready_count;
static uint32_t *latencies; // in ns
static size_t latency_count, latency_room = 1 << 22;

static void fail(const char *what) {
  fprintf(stderr, "tlsload: %s: %s\n", what, errno ? strerror(errno) : "");
  ERR_print_errors_fp(stderr);
  exit(1);
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// What the server and this program have used of the CPUs.

struct usage {
  uint64_t at, server_ns, own_ns;
  unsigned long user_ticks, system_ticks;
};

static uint64_t threads_of(int pid) {
  char path[320];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *tasks = opendir(path);
  if (!tasks) fail(path);
  uint64_t sum = 0;
  for (struct dirent *entry; (entry = readdir(tasks));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", pid, entry->d_name);
    FILE *file = fopen(path, "r");
    unsigned long long ns = 0;
    if (file && fscanf(file, "%llu", &ns) == 1) sum += ns;
    if (file) fclose(file);
  }
  closedir(tasks);
  return sum;
}

static struct usage usage_now(void) {
  struct usage result = {.at = now()};
  struct timespec own;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  result.own_ns = (uint64_t)own.tv_sec * 1000000000u + (uint64_t)own.tv_nsec;
  if (!server_pid) return result;
  result.server_ns = threads_of(server_pid);
  char path[64], text[1024] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", server_pid);
  FILE *file = fopen(path, "r");
  if (!file || !fread(text, 1, sizeof text - 1, file)) fail(path);
  fclose(file);
  sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
         &result.user_ticks, &result.system_ticks);
  return result;
}

// Connections.

static int new_session(SSL *ssl, SSL_SESSION *session) {
  struct connection *c = SSL_get_app_data(ssl);
  if (mode != RESUMED) return 0;
  SSL_SESSION_free(c->session);
  c->session = session;
  return 1;
}

static int any_certificate(X509_STORE_CTX *chain, void *nothing) {
  (void)chain;
  (void)nothing;
  return 1;
}

static void watch(struct connection *c, unsigned events) {
  if (c->watched == events) return;
  struct epoll_event wanted = {.events = events, .data.ptr = c};
  const int how = c->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(poller, how, c->fd, &wanted)) fail("epoll_ctl");
  c->watched = events;
}

static void start(struct connection *c) {
  c->begun = now();
  c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int one = 1;
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (c->fd < 0 || setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) fail("socket");
  if (connect(c->fd, (struct sockaddr *)&to, sizeof to) && errno != EINPROGRESS) fail("connect");
  c->ssl = SSL_new(context);
  if (!c->ssl || !SSL_set_fd(c->ssl, c->fd)) fail("SSL_new");
  SSL_set_app_data(c->ssl, c);
  if (c->session && !SSL_set_session(c->ssl, c->session)) fail("SSL_set_session");
  c->ready = 0;
  c->got = 0;
  c->wanted = 0;
  c->watched = 0;
  watch(c, EPOLLOUT);
}

// With a reset: the server has ended by now, and nothing of the connection stays in the kernel.
static void end(struct connection *c) {
  const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  // Else OpenSSL takes the session for one that was broken off, and does not resume it.
  SSL_set_shutdown(c->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_free(c->ssl);
  close(c->fd);
}

// Whether the call has to wait; ends the program if it failed.
static int must_wait(struct connection *c, int result, const char *what) {
  switch (SSL_get_error(c->ssl, result)) {
    case SSL_ERROR_WANT_READ: watch(c, EPOLLIN); return 1;
    case SSL_ERROR_WANT_WRITE: watch(c, EPOLLIN | EPOLLOUT); return 1;
    default: fail(what); return 0;
  }
}

static void done(struct connection *c) {
  const uint64_t t = now();
  if (latency_count < latency_room) latencies[latency_count++] = (uint32_t)(t - c->begun);
  c->begun = t;
  ++count;
  ++progress;
}

static void check_agreement(struct connection *c) {
  errno = 0;
  if (SSL_version(c->ssl) != TLS1_3_VERSION) fail("the server speaks no TLS 1.3");
  if (strcmp(SSL_get_cipher_name(c->ssl), SUITE)) fail("another cipher suite: it was not " SUITE);
  if (SSL_session_reused(c->ssl) != (c->session != NULL)) {
    fail(c->session ? "the server did not resume the session" : "a session was resumed");
  }
}

// What a connection does, once it is ready. Each returns when it has to wait, or after its turn.

static void send_message(struct connection *c) {
  errno = 0;
  if (SSL_write(c->ssl, message, (int)message_bytes) <= 0) fail("a message was not taken at once");
}

static void go_on_echo(struct connection *c) {
  for (;;) {
    const int n = SSL_read(c->ssl, buffer, (int)(message_bytes - c->got));
    if (n <= 0) {
      must_wait(c, n, "SSL_read");
      return;
    }
    errno = 0;
    if (memcmp(buffer, message + c->got, (size_t)n)) fail("what came back is not what was sent");
    c->got += (size_t)n;
    if (c->got < message_bytes) continue;
    c->got = 0;
    done(c);
    send_message(c);
    if (!SSL_has_pending(c->ssl)) return;
  }
}

static void ask(struct connection *c) {
  static const char request[] = "GET /bulk HTTP/1.1\r\nHost: localhost\r\n\r\n";
  errno = 0;
  if (SSL_write(c->ssl, request, sizeof request - 1) <= 0) fail("a request was not taken at once");
}

static void go_on_down(struct connection *c) {
  c->again = 0;
  for (int i = 0; i < TURN; ++i) {
    const int n = SSL_read(c->ssl, buffer, BULK);
    if (n <= 0) {
      must_wait(c, n, "SSL_read");
      return;
    }
    bytes += (uint64_t)n;
    ++progress;
    if (!answer_bytes) continue;
    if (!c->wanted) { // The first record has all of the header.
      const char *body = memmem(buffer, (size_t)n, "\r\n\r\n", 4);
      errno = 0;
      if (!body || strncmp(buffer, "HTTP/1.1 200", 12)) fail("not an answer of HTTP/1.1");
      c->wanted = (body + 4 - buffer) + answer_bytes;
    }
    c->got += (size_t)n;
    if ((int64_t)c->got < c->wanted) continue;
    c->got = 0;
    c->wanted = 0;
    ask(c);
  }
  c->again = 1;
}

static void go_on_up(struct connection *c) {
  for (int i = 0; i < TURN / 4; ++i) {
    const int n = SSL_write(c->ssl, buffer, BULK);
    if (n <= 0) {
      must_wait(c, n, "SSL_write");
      return;
    }
    bytes += (uint64_t)n;
    ++progress;
  }
  watch(c, EPOLLIN | EPOLLOUT);
}

// Has said its close_notify; reads tickets and the end, and begins anew.
static void go_on_ending(struct connection *c) {
  const int n = SSL_read(c->ssl, buffer, BULK);
  errno = 0;
  if (n > 0) fail("unexpected data");
  const int error = SSL_get_error(c->ssl, n);
  if (error == SSL_ERROR_WANT_READ) {
    watch(c, EPOLLIN);
    return;
  }
  if (error != SSL_ERROR_ZERO_RETURN) fail("the server has not ended the connection in order");
  done(c);
  end(c);
  start(c);
}

static void begin(struct connection *c) {
  check_agreement(c);
  c->ready = 1;
  ++ready_count;
  c->begun = mode == FULL || mode == RESUMED ? c->begun : now();
  watch(c, EPOLLIN);
  switch (mode) {
    case ECHO: send_message(c); break;
    case DOWN: ask(c); break;
    case UP: go_on_up(c); break;
    default:
      if (SSL_shutdown(c->ssl) < 0) fail("SSL_shutdown");
  }
}

static void step(struct connection *c) {
  if (!c->ready) {
    const int result = SSL_connect(c->ssl);
    if (result == 1) {
      begin(c);
    } else {
      must_wait(c, result, "SSL_connect");
    }
    return;
  }
  switch (mode) {
    case ECHO: go_on_echo(c); break;
    case DOWN: go_on_down(c); break;
    case UP: go_on_up(c); break;
    default: go_on_ending(c);
  }
}

// The whole run.

static void poll_once(void) {
  struct epoll_event events[256];
  int again = 0;
  if (mode == DOWN) {
    for (int i = 0; i < connections; ++i) again |= all[i].again;
  }
  const int n = epoll_wait(poller, events, 256, again ? 0 : 100);
  if (n < 0 && errno != EINTR) fail("epoll_wait");
  for (int i = 0; i < n; ++i) {
    struct connection *c = events[i].data.ptr;
    c->again = 0;
    step(c);
  }
  for (int i = 0; again && i < connections; ++i) {
    if (all[i].again) step(&all[i]);
  }
}

enum until { ALL_READY, TIME_OVER, SOMETHING_DONE };

static int is_over(enum until what, uint64_t t, uint64_t end_of_run) {
  if (what == ALL_READY) return ready_count >= connections;
  return t >= end_of_run && (what == TIME_OVER || count + bytes);
}

static void run_until(enum until what, uint64_t end_of_run) {
  uint64_t last = progress + (uint64_t)ready_count, since = now();
  for (uint64_t t = since; !is_over(what, t, end_of_run); t = now()) {
    poll_once();
    const uint64_t is = progress + (uint64_t)ready_count;
    if (is != last) {
      last = is;
      since = t;
    } else if (t - since > 10000000000u) {
      errno = ETIMEDOUT;
      fail("nothing happened for ten seconds");
    }
  }
}

static void set_up(void) {
  context = SSL_CTX_new(TLS_client_method());
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (!context || poller < 0) fail("set-up");
  if (!SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) ||
      !SSL_CTX_set_ciphersuites(context, SUITE) || !SSL_CTX_set1_groups_list(context, GROUP)) {
    fail("OpenSSL's options");
  }
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // The server proves that it has the certificate's key; whose certificate it is costs only time.
  SSL_CTX_set_cert_verify_callback(context, any_certificate, NULL);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, new_session);
  // A server that was said close_notify may do without its own: nginx does.
  if (mode == FULL || mode == RESUMED) SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
  // Few calls of the kernel, so that the generator is not what is measured.
  SSL_CTX_set_read_ahead(context, 1);
  if (mode == DOWN) SSL_CTX_set_default_read_buffer_len(context, 4 * BULK);
  all = calloc((size_t)connections, sizeof *all);
  message = malloc(message_bytes);
  buffer = malloc(message_bytes > BULK ? message_bytes : BULK);
  latencies = malloc(latency_room * sizeof *latencies);
  if (!all || !message || !buffer || !latencies) fail("memory");
  for (size_t i = 0; i < message_bytes; ++i) message[i] = (char)('a' + i % 23);
  memset(buffer, 'x', BULK);
}

static int by_size(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static double quantile(double q) {
  return latency_count ? latencies[(size_t)(q * (double)(latency_count - 1))] / 1e3 : 0;
}

static void read_arguments(int argc, char **argv) {
  for (int o; (o = getopt(argc, argv, "m:p:c:s:d:w:P:r:")) != -1;) {
    switch (o) {
      case 'm':
        for (mode = ECHO; mode <= RESUMED && strcmp(optarg, mode_names[mode]); ++mode) {}
        break;
      case 'p': port = atoi(optarg); break;
      case 'c': connections = atoi(optarg); break;
      case 's': message_bytes = (size_t)atol(optarg); break;
      case 'd': seconds = atof(optarg); break;
      case 'w': warm_up = atof(optarg); break;
      case 'P': server_pid = atoi(optarg); break;
      case 'r': answer_bytes = atoll(optarg); break;
      default: mode = RESUMED + 1;
    }
  }
  if (port && connections > 0 && message_bytes && message_bytes <= 16384 && mode <= RESUMED) return;
  fprintf(stderr, "usage: %s -m echo|down|up|full|resumed -p PORT [-c CONNECTIONS] [-s BYTES] "
          "[-d SECONDS] [-w WARM_UP] [-P SERVER_PID] [-r BYTES]\n", argv[0]);
  exit(2);
}

int main(int argc, char **argv) {
  read_arguments(argc, argv);
  set_up();
  for (int i = 0; i < connections; ++i) start(&all[i]);
  run_until(ALL_READY, 0);
  run_until(TIME_OVER, now() + (uint64_t)(warm_up * 1e9));
  count = bytes = latency_count = 0;
  const struct usage before = usage_now();
  run_until(SOMETHING_DONE, before.at + (uint64_t)(seconds * 1e9));
  const struct usage after = usage_now();
  qsort(latencies, latency_count, sizeof *latencies, by_size);
  printf("{\"seconds\":%.6f,\"count\":%llu,\"bytes\":%llu,\"p50_us\":%.1f,\"p99_us\":%.1f,"
         "\"cpu_ns\":%llu,\"user_ticks\":%lu,\"system_ticks\":%lu,\"own_ns\":%llu}\n",
         (double)(after.at - before.at) / 1e9, (unsigned long long)count,
         (unsigned long long)bytes, quantile(0.5), quantile(0.99),
         (unsigned long long)(after.server_ns - before.server_ns),
         after.user_ticks - before.user_ticks, after.system_ticks - before.system_ticks,
         (unsigned long long)(after.own_ns - before.own_ns));
  return 0;
}
