/*
 * variables.c: the variables, in a hash table of chains.
 *
 * An unknown variable is 0. Variables are never removed; the table does not grow.
 */
#include "calc.h"

#include <stdlib.h>
#include <string.h>

struct variable {
    char name[16];
    double value;
    struct variable *next;
};

static struct variable *chains[4];

static unsigned hash(const char *name)
{
    unsigned sum = 0;

    while (*name)
        sum = sum * 31 + (unsigned char)*name++;
    return sum % (sizeof chains / sizeof *chains);
}

static struct variable *find(const char *name)
{
    struct variable *variable = chains[hash(name)];

    while (variable && strcmp(variable->name, name) != 0)
        variable = variable->next;
    return variable;
}

void variable_set(const char *name, double value)
{
    struct variable *variable = find(name);

    if (!variable) {
        variable = calloc(1, sizeof *variable);
        if (!variable)
            abort();
        strncpy(variable->name, name, sizeof variable->name - 1);
        variable->next = chains[hash(name)];
        chains[hash(name)] = variable;
    }
    variable->value = value;
}

double variable_get(const char *name)
{
    const struct variable *variable = find(name);

    return variable ? variable->value : 0;
}
