import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { withAgent } from '../support/benched-agent.ts';
import type { MachineLimits, Row } from '../support/measured.ts';
import { nextMessage, runWorker, startWorker } from '../support/workers.ts';
import type { StatsdLoad } from '../workers/statsd-sender.ts';

const FLOOR = 50_000;
/** The offered rates, as shares of the floor. */
const SHARES = [0.5, 0.75, 1, 1.25, 1.5, 2];
/** The least share of an offered rate that the sender must reach. */
const MIN_REACHED = 0.97;
const SECONDS = 5;
const FLUSH_S = 1;
const NAMES = Array.from({ length: 20 }, (_, index) => `bench.hits.${index}`);

interface Sent {
  sent: number;
  elapsedS: number;
}

/** How many datagrams were sent in which time, and how many were lost. */
interface Outcome extends Sent {
  lost: number;
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}

const send = (port: number, perSecond: number): Promise<Sent> =>
  runWorker<Sent>('statsd-sender', { port, perSecond, seconds: SECONDS, names: NAMES } satisfies StatsdLoad);

async function toAgent(perSecond: number): Promise<Outcome> {
  const port = await freePort();
  const flags = ['--statsd-metrics-port', String(port), '--statsd-flush-interval', String(FLUSH_S)];
  return withAgent(flags, async ({ sums }) => {
    const { sent, elapsedS } = await send(port, perSecond);
    await delay(3 * FLUSH_S * 1_000);
    const received = NAMES.reduce((sum, name) => sum + (sums.get(`${name}.value`) ?? 0), 0);
    return { sent, elapsedS, lost: sent - received };
  });
}

async function toBareReceiver(perSecond: number): Promise<Outcome> {
  const receiver = startWorker('bare-receiver', {});
  const { sent, elapsedS } = await send(await nextMessage<number>(receiver), perSecond);
  await delay(500);
  const counted = nextMessage<number>(receiver);
  receiver.send('count');
  const lost = sent - (await counted);
  receiver.disconnect();
  return { sent, elapsedS, lost };
}

/** The highest of the offered rates, from the lowest on, at which nothing is lost; 0 if there is none. */
async function lossless(offer: (perSecond: number) => Promise<Outcome>, scale: number): Promise<number> {
  let best = 0;
  for (const share of SHARES) {
    const perSecond = FLOOR * scale * share;
    const { sent, elapsedS, lost } = await offer(perSecond);
    if (lost > 0 || sent / elapsedS < MIN_REACHED * perSecond) break;
    best = perSecond;
  }
  return best;
}

/** G13: the rate of StatsD datagrams of which an agent loses none. */
export async function statsdRate({ scale }: MachineLimits): Promise<Row[]> {
  const highest = Math.max(...SHARES) * FLOOR * scale;
  return [
    {
      id: 'G13',
      what: `StatsD datagrams without loss for ${SECONDS} s, up to ${highest.toFixed(0)}/s offered; limit: bare node:dgram`,
      unit: '/s',
      value: await lossless(toAgent, scale),
      rawLimit: await lossless(toBareReceiver, scale),
      floor: FLOOR,
    },
  ];
}
