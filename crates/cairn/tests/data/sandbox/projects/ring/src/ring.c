#include "ring.h"

void ring_init(struct ring *ring)
{
    ring->start = 0;
    ring->length = 0;
}

int ring_push(struct ring *ring, unsigned char byte)
{
    if (ring->length == RING_SIZE)
        return -1;
    ring->bytes[(ring->start + ring->length) % RING_SIZE] = byte;
    ring->length++;
    return 0;
}

int ring_pop(struct ring *ring, unsigned char *byte)
{
    if (ring->length == 0)
        return -1;
    *byte = ring->bytes[ring->start];
    ring->start = (ring->start + 1) % RING_SIZE;
    ring->length--;
    return 0;
}
