#include "comdat.h"
int west(int x)
{
    return shared(x) + shared(5) + size(std::vector<int>{0, 9}) + size(std::vector<double>{0.5});
}
