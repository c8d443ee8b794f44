'use strict';

const assert = require('assert');
const { tally, top } = require('../src');

assert.deepStrictEqual(tally(['a', 'b', 'a']), { a: 2, b: 1 });
assert.deepStrictEqual(top(['a', 'b', 'a', 'c', 'd'], 2), ['a', 'b']);
console.log('2 passed');
