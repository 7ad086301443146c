/* pipeline [ROUNDS]: one thread makes words, two count them, one sorts the counts: named threads
 * that hand work to each other, each with its own kind of cost. Words are made and hashed by a
 * shared library, words.c. */
#define _GNU_SOURCE
#include "words.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 20000, BUCKETS = 4096, COUNTERS = 2 };

struct batch {
    char words[WORDS][WORD_BYTES];
    uint32_t counts[COUNTERS][BUCKETS];
};

static struct batch batches[2];
static pthread_barrier_t turn;
static int rounds = 300;
static uint64_t total;

static void count_words(struct batch *b, int counter)
{
    memset(b->counts[counter], 0, sizeof b->counts[counter]);
    for (int repeat = 0; repeat < 8; repeat++)
        for (int i = counter; i < WORDS; i += COUNTERS)
            b->counts[counter][word_hash(b->words[i]) % BUCKETS]++;
}

static int descending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

static uint64_t sort_counts(const struct batch *b)
{
    static uint32_t all[COUNTERS * BUCKETS];
    memcpy(all, b->counts, sizeof all);
    qsort(all, COUNTERS * BUCKETS, sizeof *all, descending);
    return all[0] + all[COUNTERS * BUCKETS - 1];
}

/* In round r words are made into one batch while those of the round before are counted, and, a
 * half-round later, the counts sorted. */
static void *maker(void *unused)
{
    uint32_t state = 1;
    pthread_setname_np(pthread_self(), "maker");
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < WORDS; i++)
            word_make(batches[r % 2].words[i], &state);
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
    }
    return unused;
}

static void *counter(void *number)
{
    pthread_setname_np(pthread_self(), "counter");
    for (int r = 0; r < rounds; r++) {
        pthread_barrier_wait(&turn);
        count_words(&batches[r % 2], (int)(intptr_t)number);
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

static void *sorter(void *unused)
{
    pthread_setname_np(pthread_self(), "sorter");
    for (int r = 0; r < rounds; r++) {
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
        total += sort_counts(&batches[r % 2]);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t id[2 + COUNTERS];
    if (argc > 1)
        rounds = atoi(argv[1]);
    pthread_barrier_init(&turn, NULL, 2 + COUNTERS);
    pthread_create(&id[0], NULL, maker, NULL);
    pthread_create(&id[1], NULL, sorter, NULL);
    for (int i = 0; i < COUNTERS; i++)
        pthread_create(&id[2 + i], NULL, counter, (void *)(intptr_t)i);
    for (int i = 0; i < 2 + COUNTERS; i++)
        pthread_join(id[i], NULL);
    printf("%llu\n", (unsigned long long)total);
    return 0;
}
