/* Known block counts: 100 rounds, half of them odd; one branch never taken. */
#include <stdio.h>

static volatile int sink;

__attribute__((noinline)) void work(int n)
{
    for (int i = 0; i < n; i++) {
        if (i % 2)
            sink += i; /* odd */
        else
            sink -= i; /* even */
        if (i > 1000)
            sink = 0; /* never */
    }
}

int main(void)
{
    work(100);
    return 0;
}
