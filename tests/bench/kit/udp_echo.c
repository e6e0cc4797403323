// udp_echo PORT THREADS single|trains: the floor of suite udp: one thread, bare system calls (Linux).
// single: recvmmsg and sendmmsg of up to 32 datagrams; trains: one recvmsg with UDP_GRO, one sendmsg with UDP_SEGMENT.
// build: gcc -O2 udp_echo.c
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define BATCH 32
#define LARGEST 65536

static int bound(int port) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), bytes = 4 << 20;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0) { perror("bind"); exit(1); }
  return fd;
}

static void echo_singles(int fd) {
  static char bytes[BATCH][2048];
  struct sockaddr_in from[BATCH];
  struct iovec part[BATCH];
  struct mmsghdr all[BATCH];
  for (;;) {
    memset(all, 0, sizeof all);
    for (int i = 0; i < BATCH; ++i) {
      part[i] = (struct iovec){bytes[i], sizeof bytes[i]};
      all[i].msg_hdr = (struct msghdr){.msg_name = &from[i], .msg_namelen = sizeof from[i], .msg_iov = &part[i], .msg_iovlen = 1};
    }
    int count = recvmmsg(fd, all, BATCH, MSG_WAITFORONE, NULL);
    for (int i = 0; i < count; ++i) part[i].iov_len = all[i].msg_len;
    for (int sent = 0; sent < count;) {
      int more = sendmmsg(fd, all + sent, (unsigned)(count - sent), 0);
      if (more <= 0) break;
      sent += more;
    }
  }
}

static int segment_of(struct msghdr *got) {
  int size = 0;
  for (struct cmsghdr *part = CMSG_FIRSTHDR(got); part; part = CMSG_NXTHDR(got, part)) {
    if (part->cmsg_level == IPPROTO_UDP && part->cmsg_type == UDP_GRO) memcpy(&size, CMSG_DATA(part), sizeof size);
  }
  return size;
}

static void echo_trains(int fd) {
  static char bytes[LARGEST];
  int on = 1;
  setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
  for (;;) {
    _Alignas(struct cmsghdr) char told[64], cut[CMSG_SPACE(sizeof(uint16_t))];
    struct sockaddr_in from;
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1, .msg_control = told,
                             .msg_controllen = sizeof told};
    ssize_t count = recvmsg(fd, &message, 0);
    if (count < 0) continue;
    uint16_t segment = (uint16_t)segment_of(&message);
    part.iov_len = (size_t)count;
    message.msg_control = NULL;
    message.msg_controllen = 0;
    if (segment && segment < count) {
      message.msg_control = cut;
      message.msg_controllen = sizeof cut;
      struct cmsghdr *first = CMSG_FIRSTHDR(&message);
      *first = (struct cmsghdr){.cmsg_level = IPPROTO_UDP, .cmsg_type = UDP_SEGMENT, .cmsg_len = CMSG_LEN(sizeof segment)};
      memcpy(CMSG_DATA(first), &segment, sizeof segment);
    }
    (void)!sendmsg(fd, &message, 0);
  }
}

int main(int argc, char **argv) {
  if (argc < 4) { fprintf(stderr, "usage: %s PORT THREADS single|trains\n", argv[0]); return 2; }
  int fd = bound(atoi(argv[1]));
  if (!strcmp(argv[3], "single")) echo_singles(fd);
  if (!strcmp(argv[3], "trains")) echo_trains(fd);
  return 2;
}
