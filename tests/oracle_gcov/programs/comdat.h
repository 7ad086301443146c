/* Instances that several units have. */
// clang-format off
#include <vector>
inline int shared(int x)
{
    static int calls;
    if (x > 2)
        return ++calls;
    return x;
}
template <class T> int size(const std::vector<T> &v) { int n = 0; for (auto &x : v) n += x > T(1) ? 2 : 1; return n; }
