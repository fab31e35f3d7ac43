// Nearest points through a tree, by the sum of absolute differences.
#define VARIANT Absolute, false
#include "neighbors/nearest_tree.cu"
