// Knight's algorithm as it is usually written, on ranks packed in 32 bits: the peer of the merges.
//
// Of each pair of variables: pack (x, y), std::sort, count ties, then a merge sort by y that counts
// exchanges, runs of eight by insertion. With `once` a row is sorted for all columns together, and
// only what ties in it is sorted for a pair.
#include <algorithm>
#include <cstdint>
#include <vector>

using Key = uint32_t;

static int64_t tied(const std::vector<Key>& keys, int n, int shift) {
    int64_t pairs = 0, run = 0;
    for (int k = 1; k < n; k++) {
        run = (keys[k] >> shift) == (keys[k - 1] >> shift) ? run + 1 : 0;
        pairs += run;
    }
    return pairs;
}

static int64_t exchanges(uint16_t* a, uint16_t* b, int n) {
    int64_t count = 0;
    for (int start = 0; start < n; start += 8) {
        int stop = std::min(start + 8, n);
        for (int k = start + 1; k < stop; k++) {
            uint16_t key = a[k];
            int place = k;
            for (; place > start && a[place - 1] > key; place--) a[place] = a[place - 1];
            a[place] = key;
            count += k - place;
        }
    }
    for (int width = 8; width < n; width *= 2) {
        for (int start = 0; start < n; start += 2 * width) {
            int middle = std::min(start + width, n), stop = std::min(start + 2 * width, n);
            if (middle == stop || a[middle - 1] <= a[middle]) {
                std::copy(a + start, a + stop, b + start);
                continue;
            }
            int left = start, right = middle, place = start;
            while (left < middle && right < stop) {
                bool second = a[left] > a[right];
                b[place++] = second ? a[right] : a[left];
                count += second ? middle - left : 0;
                left += !second;
                right += second;
            }
            std::copy(a + left, a + middle, b + place);
            std::copy(a + right, a + stop, b + place + (middle - left));
        }
        std::swap(a, b);
    }
    return count;
}

extern "C" void knight(const uint16_t* ranks, int rows, int n, int once, int64_t* out) {
    std::vector<Key> keys(n), order(n);
    std::vector<uint16_t> first(n), second(n);
    std::vector<int64_t> ties(rows);
    for (int i = 0; i < rows; i++) {
        const uint16_t* x = ranks + int64_t(i) * n;
        for (int k = 0; k < n; k++) keys[k] = x[k];
        std::sort(keys.begin(), keys.end());
        ties[i] = tied(keys, n, 0);
    }
    for (int i = 0; i < rows; i++) {
        const uint16_t* x = ranks + int64_t(i) * n;
        for (int k = 0; k < n; k++) order[k] = Key(x[k]) << 16 | k;
        if (once) std::sort(order.begin(), order.end());
        for (int j = i; j < rows; j++) {
            const uint16_t* y = ranks + int64_t(j) * n;
            if (once) {
                for (int k = 0; k < n; k++) keys[k] = (order[k] & 0xFFFF0000u) | y[order[k] & 0xFFFF];
                for (int k = 0, stop; ties[i] && k < n; k = stop) {
                    for (stop = k + 1; stop < n && keys[stop] >> 16 == keys[k] >> 16;) stop++;
                    if (stop - k > 1) std::sort(keys.begin() + k, keys.begin() + stop);
                }
            } else {
                for (int k = 0; k < n; k++) keys[k] = Key(x[k]) << 16 | y[k];
                std::sort(keys.begin(), keys.end());
            }
            int64_t both = ties[i] && ties[j] ? tied(keys, n, 0) : 0;
            for (int k = 0; k < n; k++) first[k] = keys[k] & 0xFFFF;
            int64_t discordant = exchanges(first.data(), second.data(), n);
            int64_t pairs = int64_t(n) * (n - 1) / 2;
            out[int64_t(i) * rows + j] = pairs - ties[i] - ties[j] + both - 2 * discordant;
        }
    }
}
