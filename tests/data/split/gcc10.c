static inline __attribute__((always_inline)) int twice(int x)
{
    volatile int y = x;
    return y * 2;
}
static inline __attribute__((always_inline)) int more(int x)
{
    return twice(x) + twice(x + 1);
}
int rare(int x)
{
    return more(x);
}
