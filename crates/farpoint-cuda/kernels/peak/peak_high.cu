// The peak method for more than three axes.
#define VARIANT true, false
#include "peak/peak.cu"
