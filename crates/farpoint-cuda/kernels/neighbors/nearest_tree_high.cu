// Nearest points through a tree, of more than three axes.
#define VARIANT Squared, true
#include "neighbors/nearest_tree.cu"
