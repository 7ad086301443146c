#include "comdat.h"
int west(int x);
int main() { return size(std::vector<int>{1, 2, 3}) + shared(3) + west(1) == 0; }
