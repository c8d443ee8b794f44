#ifndef RING_H
#define RING_H

#include <stddef.h>

#define RING_SIZE 8

struct ring {
    unsigned char bytes[RING_SIZE];
    size_t start;
    size_t length;
};

void ring_init(struct ring *ring);
int ring_push(struct ring *ring, unsigned char byte);
int ring_pop(struct ring *ring, unsigned char *byte);

#endif
