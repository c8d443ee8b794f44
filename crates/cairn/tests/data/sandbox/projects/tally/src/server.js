'use strict';

const http = require('http');
const { tally } = require('./index');

const port = Number(process.env.PORT || 8123);
http
  .createServer((request, response) => {
    const words = decodeURIComponent(request.url.slice(1)).split(' ').filter(Boolean);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(tally(words)) + '\n');
  })
  .listen(port, '127.0.0.1', () => console.log('listening on ' + port));
