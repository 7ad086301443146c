/* What two units share; several statements on a line are on purpose. */
// clang-format off
#ifndef SHARED_H
#define SHARED_H
static inline int clamp(int v, int lo, int hi)
{
    if (v < lo)
        return lo;
    return v > hi ? hi : v;
}
static inline int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
static inline int idle(int n)
{
    return n ? 1 : 2;
}
#endif
