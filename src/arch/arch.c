/* The table of machines, and the numbers of system calls that several of them share.
 *
 * Looking a row up is a walk over fifteen rows; callers that need it for each symbol or sample keep
 * the pointer. */
#include "arch/arch.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#define ARCH_ADDRESS(name) &arch_##name,
const struct arch *const archs[ARCHS] = {ARCH_ROWS(ARCH_ADDRESS)};
#undef ARCH_ADDRESS

/* A row fits by machine number, and by word size and byte order where it names them. */
const struct arch *arch_of(const struct arch_target *t)
{
    static const struct arch unknown = {0};
    for (size_t i = 0; i < ARCHS; i++) {
        const struct arch *a = archs[i];
        const uint16_t *m = a->machines;
        bool is_machine =
            t->machine && (m[0] == t->machine || m[1] == t->machine || m[2] == t->machine);
        if (is_machine && (!a->word || a->word == t->word) &&
            (!a->order || (a->order == 'b') == t->is_big_endian))
            return a;
    }
    return &unknown;
}

/* Kernels have several names for a family of 32-bit CPUs. */
const struct arch *arch_named(const char *name)
{
    for (size_t i = 0; i < ARCHS; i++) {
        if (!strcmp(archs[i]->name, name))
            return archs[i];
        const char *const *others = archs[i]->other_names;
        for (size_t k = 0; k < sizeof archs[i]->other_names / sizeof *others && others[k]; k++)
            if (!strcmp(others[k], name))
                return archs[i];
    }
    return NULL;
}

/* The header of the file that this very code is in, which the linker provides. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* At run time, not by the compiler's macros: this file is then the same for all machines. */
const struct arch *arch_own(void)
{
    const unsigned char *ident = __ehdr_start.e_ident;
    const struct arch *a =
        arch_of(&(struct arch_target){.machine = __ehdr_start.e_machine,
                                      .word = ident[EI_CLASS] == ELFCLASS32 ? 4 : 8,
                                      .is_big_endian = ident[EI_DATA] == ELFDATA2MSB});
    return a->name ? a : NULL;
}

const struct arch *arch_of_pe(uint16_t machine)
{
    for (size_t i = 0; i < ARCHS; i++)
        if (machine && archs[i]->pe_machine == machine)
            return archs[i];
    return NULL;
}

/* --- system calls of Linux ------------------------------------------------------------------- */

/* clang-format off */

/* The numbers that aarch64, riscv64 and later machines have. */
const char *const syscalls_generic[SYSCALLS_GENERIC] = {
    "io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "setxattr", "lsetxattr",
    "fsetxattr", "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
    "removexattr", "lremovexattr", "fremovexattr", "getcwd", "lookup_dcookie", "eventfd2",
    "epoll_create1", "epoll_ctl", "epoll_pwait", "dup", "dup3", "fcntl", "inotify_init1",
    "inotify_add_watch", "inotify_rm_watch", "ioctl", "ioprio_set", "ioprio_get", "flock",
    "mknodat", "mkdirat", "unlinkat", "symlinkat", "linkat", "renameat", "umount2", "mount",
    "pivot_root", "nfsservctl", "statfs", "fstatfs", "truncate", "ftruncate", "fallocate",
    "faccessat", "chdir", "fchdir", "chroot", "fchmod", "fchmodat", "fchownat", "fchown", "openat",
    "close", "vhangup", "pipe2", "quotactl", "getdents64", "lseek", "read", "write", "readv",
    "writev", "pread64", "pwrite64", "preadv", "pwritev", "sendfile", "pselect6", "ppoll",
    "signalfd4", "vmsplice", "splice", "tee", "readlinkat", "fstatat", "fstat", "sync", "fsync",
    "fdatasync", "sync_file_range2", "timerfd_create", "timerfd_settime", "timerfd_gettime",
    "utimensat", "acct", "capget", "capset", "personality", "exit", "exit_group", "waitid",
    "set_tid_address", "unshare", "futex", "set_robust_list", "get_robust_list", "nanosleep",
    "getitimer", "setitimer", "kexec_load", "init_module", "delete_module", "timer_create",
    "timer_gettime", "timer_getoverrun", "timer_settime", "timer_delete", "clock_settime",
    "clock_gettime", "clock_getres", "clock_nanosleep", "syslog", "ptrace", "sched_setparam",
    "sched_setscheduler", "sched_getscheduler", "sched_getparam", "sched_setaffinity",
    "sched_getaffinity", "sched_yield", "sched_get_priority_max", "sched_get_priority_min",
    "sched_rr_get_interval", "restart_syscall", "kill", "tkill", "tgkill", "sigaltstack",
    "rt_sigsuspend", "rt_sigaction", "rt_sigprocmask", "rt_sigpending", "rt_sigtimedwait",
    "rt_sigqueueinfo", "rt_sigreturn", "setpriority", "getpriority", "reboot", "setregid", "setgid",
    "setreuid", "setuid", "setresuid", "getresuid", "setresgid", "getresgid", "setfsuid",
    "setfsgid", "times", "setpgid", "getpgid", "getsid", "setsid", "getgroups", "setgroups",
    "uname", "sethostname", "setdomainname", "getrlimit", "setrlimit", "getrusage", "umask",
    "prctl", "getcpu", "gettimeofday", "settimeofday", "adjtimex", "getpid", "getppid", "getuid",
    "geteuid", "getgid", "getegid", "gettid", "sysinfo", "mq_open", "mq_unlink", "mq_timedsend",
    "mq_timedreceive", "mq_notify", "mq_getsetattr", "msgget", "msgctl", "msgrcv", "msgsnd",
    "semget", "semctl", "semtimedop", "semop", "shmget", "shmctl", "shmat", "shmdt", "socket",
    "socketpair", "bind", "listen", "accept", "connect", "getsockname", "getpeername", "sendto",
    "recvfrom", "setsockopt", "getsockopt", "shutdown", "sendmsg", "recvmsg", "readahead", "brk",
    "munmap", "mremap", "add_key", "request_key", "keyctl", "clone", "execve", "mmap", "fadvise64",
    "swapon", "swapoff", "mprotect", "msync", "mlock", "munlock", "mlockall", "munlockall",
    "mincore", "madvise", "remap_file_pages", "mbind", "get_mempolicy", "set_mempolicy",
    "migrate_pages", "move_pages", "rt_tgsigqueueinfo", "perf_event_open", "accept4", "recvmmsg",
    [258] = "riscv_hwprobe", "riscv_flush_icache", "wait4", "prlimit64", "fanotify_init",
    "fanotify_mark", "name_to_handle_at", "open_by_handle_at", "clock_adjtime", "syncfs", "setns",
    "sendmmsg", "process_vm_readv", "process_vm_writev", "kcmp", "finit_module", "sched_setattr",
    "sched_getattr", "renameat2", "seccomp", "getrandom", "memfd_create", "bpf", "execveat",
    "userfaultfd", "membarrier", "mlock2", "copy_file_range", "preadv2", "pwritev2",
    "pkey_mprotect", "pkey_alloc", "pkey_free", "statx", "io_pgetevents", "rseq", "kexec_file_load",
};

/* From 424 on all machines share their numbers. */
static const char *const SHARED[] = {
    "pidfd_send_signal", "io_uring_setup", "io_uring_enter", "io_uring_register", "open_tree",
    "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "pidfd_open", "clone3", "close_range",
    "openat2", "pidfd_getfd", "faccessat2", "process_madvise", "epoll_pwait2", "mount_setattr",
    "quotactl_fd", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
    "memfd_secret", "process_mrelease", "futex_waitv", "set_mempolicy_home_node", "cachestat",
    "fchmodat2", "map_shadow_stack", "futex_wake", "futex_wait", "futex_requeue", "statmount",
    "listmount", "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal",
};
/* clang-format on */

/* Sources: the kernel's <asm-generic/unistd.h>, and each machine's own table below 424. */
const char *arch_syscall_name(uint16_t machine, uint64_t number)
{
    enum { FIRST_SHARED = 424, SHARED_LEN = sizeof SHARED / sizeof *SHARED };
    if (number >= FIRST_SHARED)
        return number - FIRST_SHARED < SHARED_LEN ? SHARED[number - FIRST_SHARED] : NULL;
    const struct arch *a = arch_of(&(struct arch_target){.machine = machine, .word = 8});
    return number < a->syscalls_len ? a->syscalls[number] : NULL;
}
