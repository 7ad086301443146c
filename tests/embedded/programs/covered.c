/* Lines whose counts are known to gcov, on any machine. */
unsigned covered_fib(unsigned n);
unsigned covered_choice(unsigned n);
unsigned covered_work(void);

unsigned covered_fib(unsigned n)
{
    if (n < 2)
        return n;
    return covered_fib(n - 1) + covered_fib(n - 2);
}

unsigned covered_choice(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        if (i % 3 == 0)
            sum += i;
        else if (i > 1000)
            sum = 0;
    return sum;
}

unsigned covered_work(void)
{
    unsigned sum = covered_fib(12);
    for (unsigned i = 0; i < 50; i++)
        sum += covered_choice(i);
    return sum;
}

#ifdef HOSTED
int main(void)
{
    return covered_work() == 0;
}
#endif
