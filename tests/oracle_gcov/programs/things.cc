// Templates, exceptions, destructors, lambdas, clones of constructors.
// clang-format off
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Base { virtual ~Base() {} virtual int area() const = 0; };
struct Square : Base { int side; explicit Square(int s) : side(s) {} int area() const override { return side * side; } };
struct Left : virtual Base { int l = 1; int area() const override { return l; } };
struct Right : virtual Base { int r = 2; int area() const override { return r; } };
struct Both : Left, Right { std::string name; Both() : name("both") {} int area() const override { return l + r; } };

template <class T, int N> struct Ring {
    T items[N]; int at = 0;
    void add(T x) { items[at++ % N] = x; }
    template <class F> int count(F f) const {
        int n = 0;
        for (const T &x : items) if (f(x)) n++;
        return n;
    }
    static T twice(T x) {
        if (x > T(3))
            return x + x;
        auto half = [](T y) { return y > T(1) ? y / 2 : y; };
        return half(x);
    }
};

struct Guard { int &n; explicit Guard(int &m) : n(m) { ++n; } ~Guard() { if (n) --n; } };

static int risky(int x)
{
    int live = 0; Guard one(live);
    if (x == 2) throw std::runtime_error("two");
    { Guard two(live); if (x == 3) throw x; }
    return x;
}

static int attempt(int x)
{
    try { return risky(x); }
    catch (const std::exception &e) { std::puts(e.what()); return -1; }
    catch (int n) { return n * 2; } catch (...) { return 0; }
}

template <typename T> T pick(T a, T b) { return a < b ? a : b; } template <typename T> T unused(T a) { return a; }
static int global = attempt(1); static std::string text = "x";
enum Colour { red, green };
static inline const char *name(Colour c) { switch (c) { case red: return "red"; case green: return "green"; } return ""; }

int main()
{
    std::vector<std::unique_ptr<Base>> shapes;
    shapes.emplace_back(new Square(3)); shapes.emplace_back(new Both);
    int sum = global;
    for (auto &s : shapes) sum += s->area();
    Ring<int, 4> a{}; Ring<double, 3> b{}; Ring<int, 5> c{};
    for (int i = 0; i < 7; i++) { a.add(i); b.add(i / 2.0); if (i > 5) c.add(i); }
    sum += a.count([](int x) { return x > 3; }) + b.count([&](double x) { return x > sum; });
    sum += Ring<int, 4>::twice(5) + (int)Ring<double, 3>::twice(2) + Ring<int, 5>::twice(1);
    for (int i = 0; i < 5; i++) sum += attempt(i);
    std::map<std::string, int> m; for (int i = 0; i < 3; i++) m[std::to_string(i)] += pick(i, 2);
    std::printf("%d %zu %g %s%s\n", sum, m.size(), pick(1.5, 2.5), name(red), text.c_str());
    return 0;
}
