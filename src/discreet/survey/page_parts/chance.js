// Chance. Every decision about an answer compares an integer below 2^53 with an integer
// threshold, so the probabilities are exactly those of the law that Python states.

const GRID = 2 ** 53;

// A fair integer below 2^53: 21 bits of one word and 32 of the next. Without a strong source
// this throws, and whoever asked stops: nothing is sent.
function uniform() {
  const words = new Uint32Array(2);
  crypto.getRandomValues(words);
  return (words[0] >>> 11) * 2 ** 32 + words[1];
}

// True with probability threshold / 2^53.
function coin(threshold) {
  return uniform() < threshold;
}

// A fair integer below `sides`: draws beyond the last full round of sides are thrown away.
function die(sides) {
  const fair = GRID - (GRID % sides);
  let drawn = uniform();
  while (drawn >= fair) drawn = uniform();
  return drawn % sides;
}

// `size` different integers below `count`, every set of them equally likely (Floyd: Bentley 1987).
function handful(size, count) {
  const taken = new Set();
  for (let last = count - size; last < count; last += 1) {
    const drawn = die(last + 1);
    taken.add(taken.has(drawn) ? last : drawn);
  }
  return taken;
}

// 128 fair bits in hexadecimal: tells reports apart, and says nothing about their sender.
function mark() {
  const words = new Uint32Array(4);
  crypto.getRandomValues(words);
  return Array.from(words, (word) => word.toString(16).padStart(8, "0")).join("");
}
