/* The table of layouts. See layout.h. Specification: docs/formats and the files of each version. */
#include "layout.h"

#include <stddef.h>

static const struct layout layouts[] = {
    {407, 8, false, false, false, SUMMARY_PROGRAM, false},
    {408, 8, false, false, false, SUMMARY_PROGRAM_HISTOGRAM, false},
    {409, 9, false, false, false, SUMMARY_PROGRAM_HISTOGRAM, false},
    {500, 10, false, false, false, SUMMARY_PROGRAM_HISTOGRAM, false},
    {700, 9, false, false, false, SUMMARY_PROGRAM_HISTOGRAM, false},
    {900, 9, false, false, false, SUMMARY_OBJECT, false},
    {1000, 8, false, false, false, SUMMARY_OBJECT, false},
    {1100, 8, false, false, true, SUMMARY_OBJECT, true},
    {1200, 8, true, true, true, SUMMARY_OBJECT, true},
    {1400, 9, true, true, true, SUMMARY_OBJECT, true},
    {1500, 10, true, true, true, SUMMARY_OBJECT, true},
};

#define NEWEST_MAJOR 16

int layout_version(uint32_t word)
{
    int first = (int)(word >> 24 & 0xff), second = (int)(word >> 16 & 0xff) - '0';
    int third = (int)(word >> 8 & 0xff) - '0';
    if (first >= 'A')
        return ((first - 'A') * 10 + second) * 100 + third;
    return (first - '0') * 100 + second * 10 + third;
}

const struct layout *layout_find(uint32_t version_word)
{
    int version = layout_version(version_word);
    const struct layout *found = NULL;
    if (version >= (NEWEST_MAJOR + 1) * 100)
        return NULL;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].since <= version)
            found = &layouts[i];
    return found;
}
