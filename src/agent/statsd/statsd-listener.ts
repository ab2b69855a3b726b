import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { platform } from 'node:os';
import { parseStatsdLine } from '../../formats/statsd.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Entity } from '../../resources/entity.ts';
import { type Event, eventWithDefaults } from '../../resources/event.ts';
import { inSlices } from '../../exec/in-slices.ts';
import { UdpSocket } from '../sockets/udp-socket.ts';
import { type SeriesPoint, SeriesTable } from './series.ts';
import type { Step } from './timer-numbers.ts';
import { readUdpDrops } from './udp-drops.ts';

/**
 * The maximum number of points in one event, so that it stays below the limits of a message and takes a few
 * milliseconds to encode.
 */
const POINTS_PER_EVENT = 2_000;
/** Their tags, and the characters of their names and tags. */
const TAGS_PER_EVENT = 20_000;
const CHARACTERS_PER_EVENT = 1024 * 1024;
/** Connections at a time, and bytes of a line without its end. */
const MAX_CONNECTIONS = 64;
const MAX_LINE_BYTES = 64 * 1024;
/** Characters of an invalid line that the log shows. */
const MAX_EXAMPLE_LENGTH = 200;
const NANOSECONDS_PER_MS = 1_000_000n;

export interface StatsdSettings {
  readonly isEnabled: boolean;
  readonly host: string;
  readonly port: number;
  readonly flushIntervalS: number;
  readonly handlers: readonly string[];
}

interface StatsdPorts {
  clock: Clock;
  log: Log;
  entity(): Entity;
  deliver(event: Event): void;
  /** Called for each line that is not valid and was dropped. */
  invalid(): void;
  /** Takes the number of datagrams that the system has dropped since the last call. */
  dropped(datagrams: number): void;
}

/** Receives StatsD lines over UDP, on Windows also over TCP, and sends their aggregates as events with metrics at each flush. */
export class StatsdListener {
  readonly #settings: StatsdSettings;
  readonly #ports: StatsdPorts;
  readonly #udp: UdpSocket;
  readonly #table = new SeriesTable();
  #tcp: Server | undefined;
  #flushedAtMs = 0;
  #loggedDrops = 0;
  /** Since the last flush, with an example. */
  #invalid = { lines: 0, example: '' };
  #port = 0;
  #systemDrops = 0;
  #cancelFlush = (): void => undefined;
  #flushing: Promise<void> = Promise.resolve();
  /** Whether a value has arrived since the last flush. */
  #hasNewValues = false;

  constructor(settings: StatsdSettings, ports: StatsdPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#udp = new UdpSocket({
      log: ports.log,
      received: (datagram, address) => this.#receive(datagram.toString(), address),
    });
  }

  async start(): Promise<void> {
    const { host, port } = this.#settings;
    const { log, clock } = this.#ports;
    try {
      const bound = await this.#udp.listen(host, port);
      this.#port = bound;
      if (platform() === 'win32') await this.#listenOnTcp(host, bound);
      log.info({}, `starting statsd server on address: ${host}:${bound}`);
    } catch (err) {
      const flags = ['statsd-metrics-host', 'statsd-metrics-port'];
      log.error({ err, flags }, `statsd listener failed on ${host}:${port}`);
      return;
    }
    this.#flushedAtMs = clock.monotonicMs();
    this.#scheduleFlush();
  }

  /** Sends what has arrived since the last flush. */
  async stop(): Promise<void> {
    this.#cancelFlush();
    this.#udp.close();
    this.#tcp?.close();
    await this.#flushing;
    if (this.#hasNewValues) await this.#flush();
    this.#logInvalid();
  }

  /** Lines are framed by newlines. */
  async #listenOnTcp(host: string, port: number): Promise<void> {
    const tcp = createServer((socket) => this.#readLines(socket));
    tcp.maxConnections = MAX_CONNECTIONS;
    tcp.listen({ host, port });
    await once(tcp, 'listening');
    tcp.unref();
    this.#tcp = tcp;
  }

  #readLines(socket: Socket): void {
    let rest = '';
    const address = socket.remoteAddress ?? '';
    socket.unref();
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      const text = rest + chunk.toString();
      const end = text.lastIndexOf('\n');
      if (end >= 0) this.#receive(text.slice(0, end), address);
      rest = text.slice(end + 1);
      if (rest.length > MAX_LINE_BYTES) socket.destroy();
    });
    socket.on('end', () => this.#receive(rest, address));
  }

  #receive(text: string, address: string): void {
    const atMs = this.#ports.clock.monotonicMs();
    for (const line of text.split('\n')) {
      if (line === '') continue;
      if (line.startsWith('_e{')) {
        this.#ports.log.info({ line }, 'ignoring an event of statsd');
        continue;
      }
      const parsed = parseStatsdLine(line);
      if (parsed === undefined) this.#dropInvalid(line);
      else {
        this.#table.add(parsed, address, atMs);
        this.#hasNewValues = true;
      }
    }
  }

  #dropInvalid(line: string): void {
    this.#ports.invalid();
    const { lines, example } = this.#invalid;
    this.#invalid = { lines: lines + 1, example: lines === 0 ? line.slice(0, MAX_EXAMPLE_LENGTH) : example };
  }

  #logInvalid(): void {
    const { lines, example } = this.#invalid;
    this.#invalid = { lines: 0, example: '' };
    if (lines > 0) this.#ports.log.warn({ dropped: lines, example }, 'dropped invalid StatsD lines');
  }

  #scheduleFlush(): void {
    this.#cancelFlush = this.#ports.clock.after(this.#settings.flushIntervalS * 1_000, () => {
      this.#scheduleFlush();
      void this.#flush();
    });
  }

  /** Flushes after an earlier flush has ended. */
  #flush(): Promise<void> {
    this.#flushing = this.#flushing
      .then(() => this.#flushNow())
      .catch((err: unknown) => this.#ports.log.error({ err }, 'could not flush statsd metrics'));
    return this.#flushing;
  }

  async #flushNow(): Promise<void> {
    const { clock, log } = this.#ports;
    this.#hasNewValues = false;
    this.#logInvalid();
    const atMs = clock.monotonicMs();
    const elapsedS = (atMs - this.#flushedAtMs) / 1_000;
    this.#flushedAtMs = atMs;
    await inSlices(this.#deliverAll(this.#table.flush(atMs, elapsedS)));
    const { dropped, size } = this.#table;
    if (dropped > this.#loggedDrops) {
      log.warn(
        { dropped: dropped - this.#loggedDrops, series: size },
        'statsd values were dropped at a limit, or are too large',
      );
      this.#loggedDrops = dropped;
    }
    await this.#logSystemDrops();
  }

  /** The system drops datagrams when they arrive faster than they are read. */
  async #logSystemDrops(): Promise<void> {
    const drops = await readUdpDrops(this.#port);
    if (drops > this.#systemDrops) {
      const dropped = drops - this.#systemDrops;
      this.#ports.log.warn({ dropped }, 'statsd datagrams were dropped by the system, whose buffer was full');
      this.#ports.dropped(dropped);
    }
    this.#systemDrops = drops;
  }

  *#deliverAll(points: Iterable<SeriesPoint | Step>): Generator<Step, void> {
    for (const some of eventsOf(points)) {
      if (some !== undefined) this.#deliver(some);
      yield;
    }
  }

  #deliver(points: readonly SeriesPoint[]): void {
    const nowMs = Math.floor(this.#ports.clock.nowMs());
    const timestamp = BigInt(nowMs) * NANOSECONDS_PER_MS;
    const entity = this.#ports.entity();
    this.#ports.deliver({
      ...eventWithDefaults({ metadata: { namespace: entity.metadata.namespace ?? '' } }),
      id: randomUUID(),
      timestamp: Math.floor(nowMs / 1_000),
      entity,
      metrics: {
        handlers: [...this.#settings.handlers],
        points: points.map(({ name, value, tags }) => ({ name, value, timestamp, tags: [...tags] })),
      },
    });
  }
}

/**
 * Divides points into those of one event each. A point that is too large by itself has an event of its own. Yields undefined after
 * each step that completes no event.
 */
function* eventsOf(points: Iterable<SeriesPoint | Step>): Generator<readonly SeriesPoint[] | Step> {
  let some: SeriesPoint[] = [];
  let tags = 0;
  let characters = 0;
  for (const point of points) {
    if (point === undefined) {
      yield;
      continue;
    }
    const length = point.tags.reduce((sum, { name, value }) => sum + name.length + value.length, point.name.length);
    tags += point.tags.length;
    characters += length;
    const isOver = some.length >= POINTS_PER_EVENT || tags > TAGS_PER_EVENT || characters > CHARACTERS_PER_EVENT;
    if (isOver && some.length > 0) {
      yield some;
      some = [];
      tags = point.tags.length;
      characters = length;
    }
    some.push(point);
    yield undefined;
  }
  if (some.length > 0) yield some;
}
