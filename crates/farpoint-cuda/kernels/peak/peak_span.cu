// The peak method for one cloud on several GPUs: their blocks are one team (parts.cuh).
#define FARPOINT_SPAN
#define VARIANT false, true
#include "peak/peak.cu"
