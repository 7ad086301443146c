/* libFuzzer: asks an object image everything src/objfile answers. Nothing may crash, hang or read
 * outside the image, whatever it claims. */
#include "objfile/interrogate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return interrogate((struct bytes){data, len}) == SIZE_MAX;
}
