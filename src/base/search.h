/* Binary search in what is sorted.
 *
 *     size_t behind = PARTITION_POINT(n->len, i, n->at[i].start <= address);
 *
 * is how many of the `len` places from 0 on satisfy the condition, given that all that do stand in
 * front of all that do not: the first place that does not, or `len`. The condition is an expression
 * of the index, whose name is the second argument; it stands where it is used, so that the compiler
 * sees through it, and is evaluated log2(len) + 1 times at the most. Where the order does not hold
 * the answer is some number from 0 to `len`. */
#ifndef MONARC_BASE_SEARCH_H
#define MONARC_BASE_SEARCH_H

#define PARTITION_POINT(len, i, condition)                              \
    __extension__({                                                     \
        __typeof__((len) + 0) low_##i = 0, high_##i = (len);            \
        while (low_##i < high_##i) {                                    \
            __typeof__(low_##i) i = low_##i + (high_##i - low_##i) / 2; \
            if (condition)                                              \
                low_##i = i + 1;                                        \
            else                                                        \
                high_##i = i;                                           \
        }                                                               \
        low_##i;                                                        \
    })

#endif
