'use strict';

function tally(words) {
  const counts = {};
  for (const word of words) counts[word] = (counts[word] || 0) + 1;
  return counts;
}

function top(words, n = 3) {
  return Object.entries(tally(words))
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, n)
    .map(([word]) => word);
}

module.exports = { tally, top };
