/* A program of the usual kind, for the cost of sampling: makes text, splits it, counts its words in
 * a hash table, sorts them, and parses sums, some ten frames deep. Prints its CPU time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TABLE 65536

struct word {
    char text[16];
    long count;
    struct word *next;
};

static struct word *table[TABLE];
static uint32_t state = 12345;

static uint32_t next_random(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void make_word(char *to)
{
    int n = 2 + (int)(next_random() % 5);
    for (int i = 0; i < n; i++)
        to[i] = (char)('a' + next_random() % 12);
    to[n] = 0;
}

static uint32_t hash(const char *s)
{
    uint32_t h = 2166136261u;
    while (*s)
        h = (h ^ (unsigned char)*s++) * 16777619u;
    return h;
}

static struct word *find(const char *s)
{
    struct word **at = &table[hash(s) % TABLE];
    for (; *at; at = &(*at)->next)
        if (strcmp((*at)->text, s) == 0)
            return *at;
    struct word *w = calloc(1, sizeof *w);
    strcpy(w->text, s);
    return *at = w;
}

static int by_count(const void *a, const void *b)
{
    const struct word *x = *(struct word *const *)a, *y = *(struct word *const *)b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : strcmp(x->text, y->text);
}

static long sort_all(void)
{
    static struct word *all[2000000];
    long n = 0, sum = 0;
    for (int i = 0; i < TABLE; i++)
        for (struct word *w = table[i]; w && n < 2000000; w = w->next)
            all[n++] = w;
    qsort(all, (size_t)n, sizeof *all, by_count);
    for (long i = 0; i < n && i < 100; i++)
        sum += all[i]->count;
    return sum;
}

static long sum(const char **s);

static long factor(const char **s)
{
    if (**s == '(') {
        ++*s;
        long n = sum(s);
        ++*s;
        return n;
    }
    long n = 0;
    while (**s >= '0' && **s <= '9')
        n = n * 10 + *(*s)++ - '0';
    return n;
}

static long product(const char **s)
{
    long n = factor(s);
    while (**s == '*') {
        ++*s;
        n = n * factor(s) % 1000003;
    }
    return n;
}

static long sum(const char **s)
{
    long n = product(s);
    while (**s == '+') {
        ++*s;
        n = (n + product(s)) % 1000003;
    }
    return n;
}

static long parse(int rounds)
{
    long n = 0;
    for (int i = 0; i < rounds; i++) {
        const char *text = "((12+34)*(56+78*(9+10)))+((1+2)*(3+(4*(5+6*7))))*89+(12*(34+56))";
        n += sum(&text);
    }
    return n;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    long total = 0;
    for (int r = 0; r < rounds; r++) {
        char text[16];
        for (int i = 0; i < 400000; i++) {
            make_word(text);
            find(text)->count++;
        }
        total += sort_all() + parse(30000);
    }
    fprintf(stderr, "%ld\n", total);
    printf("%.4f\n", (double)clock() / CLOCKS_PER_SEC);
    return 0;
}
