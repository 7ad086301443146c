/* The library functions that the recorder wraps (in the files beside this one). In the shared
 * library they are looked up once, before main, because most may be called in signal handlers; a
 * static program has them under a second name. */
#ifndef MONARC_PROFILE_REAL_H
#define MONARC_PROFILE_REAL_H

#include "../process.h"

#include <pthread.h>
#include <signal.h>

#ifdef MONARC_STATIC
int __execve(const char *, char *const[], char *const[]);
int __execvpe(const char *, char *const[], char *const[]);
int __dlclose(void *);
int __pthread_create_2_1(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __clone(int (*)(void *), void *, int, void *, ...);
#define REAL(name)          REAL_##name
#define REAL_execve         __execve
#define REAL_execvpe        __execvpe
#define REAL_dlclose        __dlclose
#define REAL_pthread_create __pthread_create_2_1
#define REAL_clone          __clone
#else
struct real {
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*daemon)(int, int);
    void (*_exit)(int);
    int (*dlclose)(void *);
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*clone)(int (*)(void *), void *, int, void *, ...);
    int (*prctl)(int, ...);
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    void (*(*signal)(int, void (*)(int)))(int);
    long (*syscall)(long, long, long, long, long, long, long);
};
/* Also before our constructor, when another library's is faster. */
const struct real *real(void) HIDDEN;
#define REAL(name) real()->name
#endif

#endif
