/* Names as people write them. */
#include "cases.h"
#include "profile/analysis/source_lines.h"

#include <stddef.h>

static void expect(bool is_it, const char *linkage_name, const char *wanted)
{
    if (function_is_called(linkage_name, wanted) != is_it)
        fail_msg("'%s' for %s", wanted, linkage_name);
}

CASE(test_names)
{
    expect(true, "work", "work");
    expect(false, "work", "wor");
    expect(false, "work", "");
    expect(true, "work.part.0", "work");
    expect(true, "work.isra.0.cold", "work");
    expect(false, "worker.part.0", "work");
    static const char contains[] = "_ZNK5plane7Polygon8containsERKNS_5PointE";
    expect(true, contains, contains);
    expect(true, contains, "plane::Polygon::contains(plane::Point const&) const");
    expect(true, contains, "plane::Polygon::contains");
    expect(true, contains, "contains");
    expect(false, contains, "Polygon");
    expect(false, contains, "Point");
    expect(false, contains, "");
    static const char size[] = "_ZNKSt6vectorIN5plane5PointESaIS1_EE4sizeEv";
    expect(true, size, "size");
    expect(true, size, "std::vector<plane::Point, std::allocator<plane::Point> >::size");
    expect(true, "_Z3addIiET_S0_S0_", "add<int>");
    expect(true, "_ZN5plane12_GLOBAL__N_13dotERKNS_5PointES3_", "dot");
    expect(false, "_ZZZ", "ZZ");
}

/* As reports print them, and what may be left out. */
CASE(test_names_in_part)
{
    static const char size[] = "_ZNKSt6vectorIN5plane5PointESaIS1_EE4sizeEv";
    expect(true, size, "std::vector::size");
    expect(true, size, "vector<plane::Point>::size");
    expect(true, size, "...size");
    expect(true, size, "std::vector<...>::size");
    expect(false, size, "vector<plane::Line>::size");
    expect(false, size, "tor::size");
    expect(false, size, "::size");
    expect(true, "work", "::work");
    expect(true, "main.(*server).work", "work");
    expect(true, "work.constprop.0.isra.1", "work");
    expect(false, "work.other", "work");
    static const char less[] = "_ZltIcEbRKiS1_"; /* bool operator< <char>(int const&, int const&) */
    expect(true, less, "operator<");
    expect(false, less, "operator<<");
    expect(true, "_ZN5plane5PointE", "/Poi.t$/");
    expect(false, "_ZN5plane5PointE", "/^Point/");
    expect(false, "work", "/(/");
}
