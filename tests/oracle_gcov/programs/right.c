/* The other unit. */
#include "inc/shared.h"
int right(int n)
{
    if (n > 100)
        return idle(n);
    return clamp(n, 0, 3) + sum(n + 5);
}
