import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

export interface StatsdLoad {
  port: number;
  /** Datagrams per second, sent in steps of a millisecond. */
  perSecond: number;
  seconds: number;
  /** The names of the counters that are sent in turn. */
  names: readonly string[];
}

/** Sends counters with the value 1, each in a datagram of its own, at a constant rate. Reports how many were sent, and in what time. */
const { port, perSecond, seconds, names } = JSON.parse(process.argv[2] ?? '') as StatsdLoad;
const socket = createSocket('udp4');
socket.connect(port, '127.0.0.1');
await once(socket, 'connect');
const datagrams = names.map((name) => Buffer.from(`${name}:1|c`));
const totalCount = Math.round(perSecond * seconds);
const startedMs = performance.now();
let sent = 0;
let flying = 0;
while (sent < totalCount) {
  const due = Math.min(totalCount, ((performance.now() - startedMs) / 1_000) * perSecond);
  // The system may take datagrams later than they are given to it: not more than a thousand wait.
  while (sent < due && flying < 1_000) {
    flying += 1;
    socket.send(datagrams[sent++ % datagrams.length] ?? '', () => (flying -= 1));
  }
  await delay(1);
}
while (flying > 0) await delay(1);
const elapsedS = (performance.now() - startedMs) / 1_000;
socket.close();
process.send?.({ sent, elapsedS });
