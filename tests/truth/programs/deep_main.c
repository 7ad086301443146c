/* Linked with -Wl,--wrap=main, makes any program one whose stack is deeper than what is copied of
 * it with a sample: main() is called below a frame of 128 kB. */
#include <stddef.h>

int __real_main(int argc, char **argv, char **environment);
int __wrap_main(int argc, char **argv, char **environment);

int __wrap_main(int argc, char **argv, char **environment)
{
    volatile char frame[128 << 10];
    frame[0] = frame[sizeof frame - 1] = 0;
    int status = __real_main(argc, argv, environment);
    return status + frame[0];
}
