/* The digests of RFC 1321, and lengths at which the padding changes. */
#include "base/path.h"
#include "cases.h"

#include <stdio.h>
#include <string.h>

static void expect(const void *text, size_t len, const char *digest)
{
    uint8_t out[16];
    char hex[33];
    md5((struct bytes){text, len}, out);
    for (size_t i = 0; i < sizeof out; i++)
        snprintf(hex + 2 * i, 3, "%02x", out[i]);
    assert_string_equal(hex, digest);
}

CASE(test_suite_of_the_rfc)
{
    static const struct {
        const char *text, *digest;
    } cases[] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
         "d174ab98d277d9f5a5611c2c9f419d9f"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].text, strlen(cases[i].text), cases[i].digest);
    expect("1234567890123456789012345678901234567890"
           "1234567890123456789012345678901234567890",
           80, "57edf4a22be3c955ac49da2e2107b67a");
}

CASE(test_padding)
{
    static const struct {
        size_t len;
        const char *digest; /* of as many x, by coreutils' md5sum */
    } cases[] = {
        {55, "04364420e25c512fd958a70738aa8f72"},  {56, "668a72d5ba17f08e62dabcafad6db14b"},
        {63, "7dc2ca208106a2f703567bdff99d8981"},  {64, "c1bb4f81d892b2d57947682aeb252456"},
        {65, "1bc932052302d074bdec39795fe00cf6"},  {119, "ab347a5f68c8a443cfcddc633f12c24f"},
        {120, "fb98667f98096de92620b64f46e1c5b5"},
    };
    char text[128];
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(text, cases[i].len, cases[i].digest);
}
