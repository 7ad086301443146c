/* The rare cases of number formatting. */
#include "output/digits.h"

#include <math.h>
#include <stdio.h>

char *digits_fixed_rare(char *to, double value, unsigned width, unsigned decimals)
{
    return to + snprintf(to, DIGITS_ROOM, "%*.*f", (int)width, (int)decimals, value);
}

bool digits_half_rounds_up(double value, double power, double scaled)
{
    double error = fma(value, power, -scaled);
    return error > 0 || (error == 0 && (uint64_t)scaled % 2);
}
