#include "ring.h"
#include <stdio.h>

static int failed;

static void check(int holds, const char *what)
{
    printf("%s %s\n", holds ? "ok  " : "FAIL", what);
    failed |= !holds;
}

int main(void)
{
    struct ring ring;
    unsigned char byte = 0;

    ring_init(&ring);
    check(ring_pop(&ring, &byte) == -1, "an empty ring gives nothing");
    for (int i = 0; i < RING_SIZE; i++)
        ring_push(&ring, (unsigned char)i);
    check(ring_push(&ring, 99) == -1, "a full ring takes nothing");
    check(ring_pop(&ring, &byte) == 0 && byte == 0, "the oldest byte comes first");
    return failed;
}
