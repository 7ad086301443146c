/* plugin.c: a library of three parts. `work` calls each of them; the library's destructor calls the
 * second once more. */
void part1(void);
void part2(void);
void part3(void);
void work(int n);

#if PART == 1
void part1(void)
{
}

void work(int n)
{
    for (int i = 0; i < n; i++) {
        part1();
        part2();
        part3();
    }
}

__attribute__((destructor)) static void last(void)
{
    part2();
}
#elif PART == 2
void part2(void)
{
}
#else
void part3(void)
{
}
#endif
