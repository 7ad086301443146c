/* loader.c LIBRARY ROUNDS: loads it, has it work, unloads it. With -DLINKED it is linked. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef LINKED
void work(int n);

int main(void)
{
    work(10);
    return 0;
}
#else
int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    for (int i = atoi(argv[2]); i > 0; i--) {
        void *library = dlopen(argv[1], RTLD_NOW);
        void (*function)(int);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        *(void **)&function = dlsym(library, "work");
        function(10);
        dlclose(library);
    }
    return 0;
}
#endif
