#pragma once
static inline unsigned sleep(unsigned seconds) { return 0; }
static inline int usleep(unsigned microseconds) { return 0; }
