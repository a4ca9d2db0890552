// What an attacker tries from within HAProxy: Lua loads it, and it makes the calls itself. It returns their errors, 0 where they succeed.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

extern const char *lua_tolstring(void *, int, size_t *);
extern void lua_pushnumber(void *, double);
extern char **environ;

static int local(const char *path, int type, int by_pair) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int pair[2];
    strncpy(to.sun_path, path, sizeof to.sun_path - 1);
    if (by_pair ? socketpair(AF_UNIX, type, 0, pair) : (pair[0] = socket(AF_UNIX, type, 0)) < 0) return -1;
    if (type == SOCK_DGRAM) return sendto(pair[0], "x", 1, 0, (void *)&to, sizeof to);
    return connect(pair[0], (void *)&to, sizeof to);
}

static int inet(const char *port, int type, int protocol, int how) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    struct msghdr message = {.msg_name = &to, .msg_namelen = sizeof to};
    struct iovec part = {"x", 1};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    message.msg_iov = &part, message.msg_iovlen = 1;
    int fd = socket(AF_INET, type, protocol);
    if (fd < 0) return -1;
    if (how == 1) return sendto(fd, "x", 1, type == SOCK_STREAM ? MSG_FASTOPEN : 0, (void *)&to, sizeof to);
    if (how == 2) return sendmsg(fd, &message, type == SOCK_STREAM ? MSG_FASTOPEN : 0);
    if (how == 3) return listen(fd, 1);
    return connect(fd, (void *)&to, sizeof to);
}

static int program(const char *path) {
    int status;
    pid_t child = fork();
    if (!child) {
        execl("/bin/sh", "sh", "-c", "echo > \"$0\"", path, NULL);
        _exit(1);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) return -1;
    errno = EPERM;
    return status ? -1 : 0;
}

static int spawned(void) {
    char *words[] = {"true", NULL};
    pid_t child;
    errno = posix_spawn(&child, "/bin/true", NULL, NULL, words, environ);
    return errno ? -1 : 0;
}

static int signalled_by_io(pid_t pid) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || fcntl(pair[0], F_SETOWN, pid)) return -1;
    return fcntl(pair[0], F_SETFL, O_ASYNC);
}

static int act(const char *what, const char *on) {
    struct rlimit limit = {64, 64};
    struct timespec times[2] = {{1, 0}, {1, 0}};
    pid_t pid = atoi(on);
    if (!strcmp(what, "unix")) return local(on, SOCK_STREAM, 0);
    if (!strcmp(what, "datagram")) return local(on, SOCK_DGRAM, 0);
    if (!strcmp(what, "pair")) return local(on, SOCK_DGRAM, 1);
    if (!strcmp(what, "tcp")) return inet(on, SOCK_STREAM, 0, 0);
    if (!strcmp(what, "fastopen")) return inet(on, SOCK_STREAM, 0, 1);
    if (!strcmp(what, "fastopen2")) return inet(on, SOCK_STREAM, 0, 2);
    if (!strcmp(what, "mptcp")) return inet(on, SOCK_STREAM, 262, 0);
    if (!strcmp(what, "listen")) return inet(on, SOCK_STREAM, 0, 3);
    if (!strcmp(what, "udp")) return inet(on, SOCK_DGRAM, 0, 0);
    if (!strcmp(what, "udp2")) return inet(on, SOCK_DGRAM, 0, 2);
    if (!strcmp(what, "netlink")) return socket(AF_NETLINK, SOCK_RAW, 0);
    if (!strcmp(what, "chmod")) return chmod(on, 0666);
    if (!strcmp(what, "fchmodat2")) return syscall(452, AT_FDCWD, on, 0666, 0);
    if (!strcmp(what, "chown")) return chown(on, getuid(), getgid());
    if (!strcmp(what, "utimens")) return utimensat(AT_FDCWD, on, times, 0);
    if (!strcmp(what, "xattr")) return setxattr(on, "user.x", "x", 1, 0);
    if (!strcmp(what, "truncate")) return truncate(on, 0);
    if (!strcmp(what, "opentruncate")) return open(on, O_RDONLY | O_TRUNC);
    if (!strcmp(what, "program")) return program(on);
    if (!strcmp(what, "spawn")) return spawned();
    if (!strcmp(what, "kill")) return kill(pid, SIGCONT);
    if (!strcmp(what, "tgkill")) return syscall(SYS_tgkill, pid, pid, SIGCONT);
    if (!strcmp(what, "sigio")) return signalled_by_io(pid);
    if (!strcmp(what, "prlimit")) return prlimit(pid, RLIMIT_CORE, &limit, NULL);
    if (!strcmp(what, "priority")) return setpriority(PRIO_PROCESS, pid, 1);
    if (!strcmp(what, "affinity")) return syscall(SYS_sched_setaffinity, pid, 8, (unsigned long[]){~0ul});
    if (!strcmp(what, "ptrace")) return ptrace(PTRACE_SEIZE, pid, 0, 0);
    if (!strcmp(what, "unshare")) return unshare(CLONE_NEWUSER | CLONE_NEWNET);
    if (!strcmp(what, "io_uring")) return syscall(425, 1, (char[256]){0});
    if (!strcmp(what, "add_key")) return syscall(SYS_add_key, "user", "x", "x", 1, -4);
    errno = 1000;
    return -1;
}

int call(void *state) {
    int result = act(lua_tolstring(state, 1, NULL), lua_tolstring(state, 2, NULL));
    lua_pushnumber(state, result < 0 ? errno : 0);
    return 1;
}
