// Projective response, for very long lists: options are points of a projective space over a
// prime field, and the report is a point that meets the true one more often than not. Vectors are
// lists of digits, the lowest first; how points are numbered is said in Python's Space. All numbers
// stay below 2^53.

// A fair vector u with <u, v> = 0, or with <u, v> = 1 where it shall miss. All its digits are free
// but the one where v has its leading 1: that one makes the product right.
function projective(truth, { prime, dimension, away }) {
  const vectors = power(prime, dimension - 1);
  const miss = coin(away);
  let drawn = miss ? die(vectors) : 1 + die(vectors - 1);
  const point = pointOf(truth, prime, dimension);
  const leading = point.lastIndexOf(1);
  const vector = [];
  let own = miss ? 1 : 0;
  for (let place = 0; place < dimension; place += 1) {
    if (place === leading) continue;
    vector[place] = drawn % prime;
    drawn = Math.floor(drawn / prime);
    own = (own + (prime - point[place]) * vector[place]) % prime;
  }
  vector[leading] = own;
  return numberOf(vector, prime);
}

// The canonical vector of a point: its last digit that is not 0 is 1.
function pointOf(number, prime, dimension) {
  const digits = Array(dimension).fill(0);
  let rest = number;
  let size = 1; // so many points have their leading 1 here
  let leading = 0;
  for (; rest >= size; leading += 1) {
    rest -= size;
    size *= prime;
  }
  for (let place = 0; place < leading; place += 1) {
    digits[place] = rest % prime;
    rest = Math.floor(rest / prime);
  }
  digits[leading] = 1;
  return digits;
}

// The number of the point that a vector belongs to.
function numberOf(vector, prime) {
  const leading = vector.findLastIndex((digit) => digit !== 0);
  const factor = inverse(vector[leading], prime);
  let number = 0;
  for (let place = 0, size = 1; place < leading; place += 1, size *= prime) {
    number += (1 + ((vector[place] * factor) % prime)) * size;
  }
  return number;
}

// 1/digit modulo the prime, by Euclid's algorithm: `above` is always digit·x modulo the prime.
function inverse(digit, prime) {
  let [above, below] = [digit, prime];
  let [x, next] = [1, 0];
  while (above !== 1) {
    const times = Math.floor(above / below);
    [above, below] = [below, above - times * below];
    [x, next] = [next, x - times * next];
  }
  return ((x % prime) + prime) % prime;
}

function power(base, exponent) {
  let product = 1;
  for (let count = 0; count < exponent; count += 1) product *= base;
  return product;
}
