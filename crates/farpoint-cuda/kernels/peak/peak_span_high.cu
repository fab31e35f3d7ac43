// The same for more than three axes.
#define FARPOINT_SPAN
#define VARIANT true, false
#include "peak/peak.cu"
