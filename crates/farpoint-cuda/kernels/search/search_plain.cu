// Several neighbors by the simplest way there is: a thread a row, and a scan of all points for each
// neighbor. Any number of axes and neighbors, no scratch: the yardstick of the others.
//
// Launch: one thread for each place of a row; `chunks` blocks a cloud.
#include "search/key.cuh"
#include "search/search.cuh"

struct PlainArgs {
    Search search;
    u32 chunks;
};

// The key of a point; the last one if it does not count.
__device__ __forceinline__ Key key_of_pair(const Search& search, const Cloud& x, u32 row, const Cloud& y, u32 other) {
    if (is_bad_row(y, other) || (search.exclude_self && row == other)) return Key::last();
    real d = distance_of(search, x.at(row, 0), x.at(row, 1), x.at(row, 2), y.at(other, 0), y.at(other, 1), y.at(other, 2));
    d = with_all_axes(search, d, x, row, y, other);
    bool counts = d <= search.limits[0] && reaches(search, d);
    return counts ? Key::of(d, other, search.by_index) : Key::last();
}

// The first key after another; the last one if there is none.
__device__ __forceinline__ Key next_key(const Search& search, const Cloud& x, u32 row, const Cloud& y, const Key& after, bool any) {
    Key best = Key::last();
    for (u32 other = 0; other < y.length; ++other) {
        Key key = key_of_pair(search, x, row, y, other);
        if ((any || after < key) && key < best) best = key;
    }
    return best;
}

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(search_plain)(const __grid_constant__ PlainArgs args) {
    const Search& search = args.search;
    u32 b = blockIdx.x / args.chunks, row = blockIdx.x % args.chunks * THREADS + threadIdx.x;
    Part x = part_of(search.sides[0], search.dims, b), y = part_of(search.sides[1], search.dims, b);
    if (row >= x.cloud.slots) return;
    bool asks = row < x.cloud.length && !is_bad_row(x.cloud, row);
    i64 base = search.whole ? y.begin : 0, at = (x.begin + row) * search.k;
    Key key = Key::last();
    u32 found = 0;
    // Rows of padding are at distance 0.
    real missing = row < x.cloud.length ? infinity() : (real)0;
    for (u32 place = 0; place < search.k; ++place) {
        if (asks) key = next_key(search, x.cloud, row, y.cloud, key, place == 0);
        asks = asks && key < Key::last();
        found += asks;
        write_place(search, at + place, asks ? key.distance(search.by_index) : missing, asks ? base + key.row(search.by_index) : -1);
    }
    write_count(search, x.begin + row, found);
}
