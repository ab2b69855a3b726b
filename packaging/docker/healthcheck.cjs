// Exits with 0 when the API says that the backend is healthy, and with 1 otherwise. It asks 127.0.0.1, at the port of
// MON_BACKEND_API_LISTEN_ADDRESS, over HTTP and HTTPS. The certificate is not verified: it names the host that clients
// use, and not this address.
'use strict';
const TIMEOUT_MS = 10_000;
const [port] = /\d+$/.exec(process.env.MON_BACKEND_API_LISTEN_ADDRESS ?? '') ?? ['8080'];

function isHealthy(protocol) {
  const options = {
    port,
    host: '127.0.0.1',
    path: '/health?strict=true',
    timeout: TIMEOUT_MS,
    rejectUnauthorized: false,
  };
  return new Promise((resolve) => {
    const request = require(protocol).get(options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

void Promise.all(['node:http', 'node:https'].map(isHealthy)).then((answers) => {
  process.exitCode = answers.includes(true) ? 0 : 1;
});
