// The C++ parser of bench/gain.py: pugixml reads a document, walks it, asks it and prints it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "pugixml.hpp"

struct sink : pugi::xml_writer {
    size_t bytes = 0;
    void write(const void *data, size_t size) override
    {
        bytes += size ? size + (static_cast<const char *>(data)[0] == '<') : 0;
    }
};

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    unsigned long sum = 0;
    for (int i = 0; i < rounds; i++) {
        pugi::xml_document document;
        if (!document.load_file(argv[1]))
            return 1;
        for (pugi::xml_node item : document.child("items").children("item")) {
            sum += item.attribute("number").as_uint();
            sum += strlen(item.child_value("name"));
        }
        sum += document.select_nodes("/items/item[@kind='rare']/name").size();
        sink s;
        document.save(s);
        sum += s.bytes;
    }
    printf("%lu\n", sum);
    return 0;
}
