// udpload: load generator for UDP echo servers (Linux), one thread, one socket.
// Keeps a window of datagrams in flight: singles by sendmmsg and recvmmsg, or trains by UDP_SEGMENT and UDP_GRO. What does not
// come back within 50 ms counts as lost. Prints one JSON object: datagrams that came back, and the server's CPU time.
// udpload -p PORT -P PID [-s bytes] [-t segments of a train] [-n window] [-d seconds] [-w seconds before it counts]
// build: gcc -O2 udpload.c
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BATCH 32
#define LARGEST 65536

static int port, pid, size = 1200, train = 1, window = 64;
static double length = 1, warm = 0.2;
static int fd, flight;
static unsigned long long came, lost;
static char out[LARGEST], in[BATCH][LARGEST];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static double cpu_ns(void) {
  char path[300];
  snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR *tasks = opendir(path);
  double all = 0;
  for (struct dirent *each; tasks && (each = readdir(tasks));) {
    if (each->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", pid, each->d_name);
    FILE *file = fopen(path, "r");
    double ns;
    if (file && fscanf(file, "%lf", &ns) == 1) all += ns;
    if (file) fclose(file);
  }
  if (tasks) closedir(tasks);
  return all;
}

static void ticks(unsigned long *user, unsigned long *kernel) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "r");
  *user = *kernel = 0;
  if (!file) return;
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  char *rest = strrchr(text, ')');
  if (rest) sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", user, kernel);
}

static void send_singles(void) {
  struct iovec part = {out, (size_t)size};
  struct mmsghdr all[BATCH];
  memset(all, 0, sizeof all);
  while (flight < window) {
    int count = window - flight < BATCH ? window - flight : BATCH;
    for (int i = 0; i < count; ++i) all[i].msg_hdr = (struct msghdr){.msg_iov = &part, .msg_iovlen = 1};
    count = sendmmsg(fd, all, (unsigned)count, 0);
    if (count <= 0) return;
    flight += count;
  }
}

static void send_trains(void) {
  uint16_t segment = (uint16_t)size;
  while (flight + train <= window) {
    _Alignas(struct cmsghdr) char cut[CMSG_SPACE(sizeof segment)];
    struct iovec part = {out, (size_t)size * train};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = cut, .msg_controllen = sizeof cut};
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    *first = (struct cmsghdr){.cmsg_level = IPPROTO_UDP, .cmsg_type = UDP_SEGMENT, .cmsg_len = CMSG_LEN(sizeof segment)};
    memcpy(CMSG_DATA(first), &segment, sizeof segment);
    if (sendmsg(fd, &message, 0) < 0) { perror("sendmsg"); exit(1); }
    flight += train;
  }
}

static void receive(void) {
  struct pollfd ready = {fd, POLLIN, 0};
  if (poll(&ready, 1, 50) == 0) {
    lost += (unsigned)flight;
    flight = 0;
    return;
  }
  struct iovec part[BATCH];
  struct mmsghdr all[BATCH];
  memset(all, 0, sizeof all);
  for (int i = 0; i < BATCH; ++i) {
    part[i] = (struct iovec){in[i], LARGEST};
    all[i].msg_hdr = (struct msghdr){.msg_iov = &part[i], .msg_iovlen = 1};
  }
  int count = recvmmsg(fd, all, BATCH, MSG_DONTWAIT, NULL);
  for (int i = 0; i < count; ++i) {
    int datagrams = ((int)all[i].msg_len + size - 1) / size;
    came += (unsigned)datagrams;
    flight = flight > datagrams ? flight - datagrams : 0;
  }
}

int main(int argc, char **argv) {
  for (int o; (o = getopt(argc, argv, "p:P:s:t:n:d:w:")) != -1;) switch (o) {
    case 'p': port = atoi(optarg); break;
    case 'P': pid = atoi(optarg); break;
    case 's': size = atoi(optarg); break;
    case 't': train = atoi(optarg); break;
    case 'n': window = atoi(optarg); break;
    case 'd': length = atof(optarg); break;
    case 'w': warm = atof(optarg); break;
    default: return 2;
  }
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int bytes = 4 << 20, on = train > 1;
  fd = socket(AF_INET, SOCK_DGRAM, 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
  if (connect(fd, (struct sockaddr *)&at, sizeof at) < 0) { perror("connect"); return 1; }
  double begin = now() + warm, cpu = 0;
  unsigned long user[2], kernel[2];
  for (int counting = 0;;) {
    double time = now();
    if (!counting && time >= begin) {
      counting = 1;
      begin = time;
      came = lost = 0;
      cpu = cpu_ns();
      ticks(&user[0], &kernel[0]);
    }
    if (counting && time >= begin + length) break;
    if (train > 1) send_trains(); else send_singles();
    receive();
  }
  double time = now() - begin;
  cpu = cpu_ns() - cpu;
  ticks(&user[1], &kernel[1]);
  printf("{\"seconds\": %.6f, \"datagrams\": %llu, \"lost\": %llu, \"cpu_ns\": %.0f, \"user_ticks\": %lu, \"system_ticks\": %lu}\n", time, came,
         lost, cpu, user[1] - user[0], kernel[1] - kernel[0]);
  return 0;
}
