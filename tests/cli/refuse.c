/* refuse CALL[,CALL...] ERROR PROGRAM [ARGUMENT...]: runs a program whose system calls of these
 * numbers fail with that error, as a container's filter (seccomp) makes them fail. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 4)
        return 125;
    for (char *next = argv[1]; next && *next;) {
        unsigned number = (unsigned)strtoul(next, &next, 10);
        struct sock_filter rules[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)atoi(argv[2])),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
            perror("refuse");
            return 125;
        }
        next += *next == ',';
    }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 127;
}
