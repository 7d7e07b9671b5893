/* Fitch's union or intersection of two sequences, a byte for each site, as in Richer's report
 * TR20130624-1 (2013): in plain C, and with AVX2 with a scalar tail or on padded sequences.
 * Each function repeats itself, so that a call from Python is not what is timed.
 */
#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

static long tail(const uint8_t *x, const uint8_t *y, uint8_t *z, long from, long n) {
  long changes = 0;
  for (long i = from; i < n; i++) {
    z[i] = x[i] & y[i];
    if (z[i] == 0) {
      z[i] = x[i] | y[i];
      changes++;
    }
  }
  return changes;
}

#ifdef __AVX2__
static long vectors(const uint8_t *x, const uint8_t *y, uint8_t *z, long n) {
  const __m256i zero = _mm256_setzero_si256();
  long changes = 0;
  for (long i = 0; i < n; i += 32) {
    __m256i a = _mm256_loadu_si256((const __m256i *)(x + i));
    __m256i b = _mm256_loadu_si256((const __m256i *)(y + i));
    __m256i both = _mm256_and_si256(a, b);
    __m256i none = _mm256_cmpeq_epi8(both, zero);
    __m256i either = _mm256_and_si256(none, _mm256_or_si256(a, b));
    changes += __builtin_popcount((unsigned)_mm256_movemask_epi8(none));
    _mm256_storeu_si256((__m256i *)(z + i), _mm256_or_si256(both, either));
  }
  return changes;
}
#else
static long vectors(const uint8_t *x, const uint8_t *y, uint8_t *z, long n) {
  return tail(x, y, z, 0, n);
}
#endif

/* what: 0 plain C, 1 vectors with a scalar tail, 2 vectors on sequences padded to 32 */
long fitch(int what, const uint8_t *x, const uint8_t *y, uint8_t *z, long n, long times) {
  long changes = 0;
  for (long k = 0; k < times; k++) {
    if (what == 0) {
      changes = tail(x, y, z, 0, n);
    } else if (what == 1) {
      long whole = n / 32 * 32;
      changes = vectors(x, y, z, whole) + tail(x, y, z, whole, n);
    } else {
      changes = vectors(x, y, z, (n + 31) / 32 * 32);
    }
    __asm__ volatile("" : : "r"(z) : "memory");
  }
  return changes;
}
