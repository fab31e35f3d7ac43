// The peak method for clouds that are not sampled from the caches: a kernel of its own, as its code makes others slower.
#define VARIANT false, true
#include "peak/peak.cu"
