// tls_epoll.c: the floor of suite tls: OpenSSL on non-blocking sockets, one thread, epoll.
// SPDX-License-Identifier: MIT
//
//   tls_epoll PORT THREADS echo|source|sink FOLDER [plain]
//
// FOLDER has cert.pem and key.pem. THREADS is 1. Reads ahead, so that a record takes one call of
// the kernel; `plain` is OpenSSL as it comes, with two calls a record. A connection whose client
// says close_notify is closed, without an answer, as nginx does it.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BULK (64 * 1024)
#define TURN 16 // records of one connection before the next one's

struct connection {
  int fd;
  SSL *ssl;
  int ready;  // the handshake is over
  int asked;  // source: the request has come
  int length; // echo: what has not been sent yet
  unsigned watched;
  char message[4096];
};

static int poller;
static char *bulk;
static void (*serve)(struct connection *);

static void fail(const char *what) {
  perror(what);
  ERR_print_errors_fp(stderr);
  exit(1);
}

static void watch(struct connection *c, unsigned events) {
  if (c->watched == events) return;
  struct epoll_event wanted = {.events = events, .data.ptr = c};
  const int how = c->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(poller, how, c->fd, &wanted)) fail("epoll_ctl");
  c->watched = events;
}

// After a call that has not succeeded: waits for what it needs, or ends the connection.
static void wait_or_end(struct connection *c, int result) {
  const int error = SSL_get_error(c->ssl, result);
  if (error == SSL_ERROR_WANT_READ) {
    watch(c, EPOLLIN);
  } else if (error == SSL_ERROR_WANT_WRITE) {
    watch(c, EPOLLOUT);
  } else {
    ERR_clear_error();
    SSL_free(c->ssl);
    close(c->fd);
    free(c);
  }
}

static void serve_echo(struct connection *c) {
  for (;;) {
    if (!c->length) {
      const int n = SSL_read(c->ssl, c->message, sizeof c->message);
      if (n <= 0) {
        wait_or_end(c, n);
        return;
      }
      c->length = n;
    }
    const int sent = SSL_write(c->ssl, c->message, c->length);
    if (sent <= 0) {
      wait_or_end(c, sent);
      return;
    }
    c->length = 0;
    if (!SSL_has_pending(c->ssl)) {
      watch(c, EPOLLIN);
      return;
    }
  }
}

static void serve_source(struct connection *c) {
  if (!c->asked) {
    const int n = SSL_read(c->ssl, c->message, sizeof c->message);
    if (n <= 0) {
      wait_or_end(c, n);
      return;
    }
    c->asked = 1;
  }
  for (int i = 0; i < TURN / 4; ++i) {
    const int sent = SSL_write(c->ssl, bulk, BULK);
    if (sent <= 0) {
      wait_or_end(c, sent);
      return;
    }
  }
  watch(c, EPOLLOUT);
}

static void serve_sink(struct connection *c) {
  // What OpenSSL has read ahead is not seen by epoll.
  for (int i = 0; i < TURN || SSL_has_pending(c->ssl); ++i) {
    const int n = SSL_read(c->ssl, bulk, BULK);
    if (n <= 0) {
      wait_or_end(c, n);
      return;
    }
  }
}

static void step(struct connection *c) {
  if (!c->ready) {
    const int result = SSL_accept(c->ssl);
    if (result != 1) {
      wait_or_end(c, result);
      return;
    }
    c->ready = 1;
    watch(c, EPOLLIN);
  }
  serve(c);
}

static void accept_all(int listener, SSL_CTX *context) {
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct connection *c = calloc(1, sizeof *c);
    if (!c || !(c->ssl = SSL_new(context)) || !SSL_set_fd(c->ssl, fd)) fail("SSL_new");
    c->fd = fd;
    SSL_set_accept_state(c->ssl);
    watch(c, EPOLLIN);
  }
}

static SSL_CTX *make_context(const char *folder, int plain) {
  char certificate[4096], key[4096];
  snprintf(certificate, sizeof certificate, "%s/cert.pem", folder);
  snprintf(key, sizeof key, "%s/key.pem", folder);
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (!context || SSL_CTX_use_certificate_chain_file(context, certificate) != 1 ||
      SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
    fail("the certificate");
  }
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (!plain) SSL_CTX_set_read_ahead(context, 1);
  return context;
}

static int listen_on(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1024)) fail("listen");
  return listener;
}

int main(int argc, char **argv) {
  const char *mode = argc > 3 ? argv[3] : "";
  if (!strcmp(mode, "echo")) serve = serve_echo;
  if (!strcmp(mode, "source")) serve = serve_source;
  if (!strcmp(mode, "sink")) serve = serve_sink;
  if (!serve || argc < 5 || atoi(argv[2]) != 1) {
    fprintf(stderr, "usage: %s PORT 1 echo|source|sink FOLDER [plain]\n", argv[0]);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  SSL_CTX *context = make_context(argv[4], argc > 5);
  bulk = malloc(BULK);
  memset(bulk, 'x', BULK);
  poller = epoll_create1(EPOLL_CLOEXEC);
  const int listener = listen_on(atoi(argv[1]));
  struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = NULL}, events[256];
  if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, listener, &wanted)) fail("epoll");
  for (;;) {
    const int n = epoll_wait(poller, events, 256, -1);
    for (int i = 0; i < n; ++i) {
      if (events[i].data.ptr) {
        step(events[i].data.ptr);
      } else {
        accept_all(listener, context);
      }
    }
  }
}
