/* The public header from C++. */
#include <monarc/runtime.h>

int main()
{
    return monarc_start() == 0 && monarc_phase("c++") == 0 && monarc_lost() == 0 ? 0 : 1;
}
