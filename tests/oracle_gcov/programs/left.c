/* One of two units with a header in common, which it names in two ways. */
#include "inc/shared.h"
#include "inc/../inc/./shared.h"
int right(int n);
int main(int argc, char **argv)
{
    (void)argv;
    return (clamp(argc, 2, 7) + right(sum(argc))) == 0;
}
