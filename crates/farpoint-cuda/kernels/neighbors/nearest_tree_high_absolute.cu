// The same for more than three axes.
#define VARIANT Absolute, true
#include "neighbors/nearest_tree.cu"
