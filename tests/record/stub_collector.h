/* A collector that writes down what a source tells it, one line each. */
#ifndef MONARC_TESTS_STUB_COLLECTOR_H
#define MONARC_TESTS_STUB_COLLECTOR_H

#include <stdio.h>

struct collector *stub_collector_new(FILE *out);
void stub_collector_free(struct collector *c);

#endif
