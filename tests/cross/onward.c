/* For -c: functions that call only what stands behind them; third and fifth are never called. The
 * loop in fourth starts at no function. */
#include <stdlib.h>

int first(int x), second(int x), third(int x), fourth(int x), fifth(int x);

int main(int argc, char **argv)
{
    (void)argv;
    return first(argc) == 12345 ? fifth(argc) : 0;
}

int first(int x)
{
    return second(x) + second(x + 1) + (x > 100 ? third(x) : 0);
}

int second(int x)
{
    return fourth(x) * 2;
}

int third(int x)
{
    return fourth(x) + fifth(x);
}

int fourth(int x)
{
    for (int i = 0; i < 10; i++)
        x += i;
    return x > 1000000 ? fifth(x) : x;
}

int fifth(int x)
{
    return abs(x) + 5;
}
