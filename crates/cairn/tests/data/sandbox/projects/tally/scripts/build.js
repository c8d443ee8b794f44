'use strict';

const fs = require('fs');
const path = require('path');

const out = path.join(__dirname, '..', 'dist');
fs.mkdirSync(out, { recursive: true });
for (const name of ['index.js', 'server.js'])
  fs.copyFileSync(path.join(__dirname, '..', 'src', name), path.join(out, name));
console.log('built into dist');
