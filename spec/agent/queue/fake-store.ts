import type { QueueStore } from '../../../src/agent/queue/spill.ts';

type Changes = Parameters<QueueStore['write']>[0];
type Content = Map<number, { check: string; payload: string }>;

interface Write {
  changes: Changes;
  resolve(): void;
  reject(error: Error): void;
}

const BLOCK = 1_000_000;

/** A store that a test lets write, fail and crash. */
export class FakeStore implements QueueStore {
  readonly id = '6f2b1c1e-8f0a-4d6b-9a57-0c6d3f0e1a22';
  readonly usedUpTo: number;
  readonly content: Content;
  /** The posted events. */
  readonly posted: Content;
  reservedUpTo: number;
  writes = 0;
  isClosed = false;
  #underWay: Write | undefined;

  constructor(content: Content = new Map(), usedUpTo = 0, posted: Content = new Map()) {
    this.content = content;
    this.posted = posted;
    this.usedUpTo = usedUpTo;
    this.reservedUpTo = usedUpTo + BLOCK;
  }

  index(): ReturnType<QueueStore['index']> {
    return [...this.content]
      .toSorted(([a], [b]) => a - b)
      .map(([n, { check, payload }]) => ({ n, entry: { check, bytes: Buffer.byteLength(payload) } }));
  }

  read(n: number): string {
    const record = this.content.get(n);
    if (record === undefined) throw new Error(`event ${n} is missing`);
    return record.payload;
  }

  postedIndex(): ReturnType<QueueStore['postedIndex']> {
    return [...this.posted].map(([n, { check, payload }]) => ({
      n,
      entry: { check, bytes: Buffer.byteLength(payload) },
    }));
  }

  readPosted(n: number): string {
    const record = this.posted.get(n);
    if (record === undefined) throw new Error(`posted event ${n} is missing`);
    return record.payload;
  }

  write(changes: Changes): Promise<void> {
    if (this.#underWay !== undefined) throw new Error('written to before the last write was done');
    this.writes++;
    return new Promise((resolve, reject) => {
      this.#underWay = { changes, resolve, reject };
    });
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  /** Lets all writes succeed, also those that follow. */
  async finishWrites(): Promise<void> {
    while (this.#underWay !== undefined) {
      const { changes, resolve } = this.#underWay;
      this.#apply(changes);
      this.#underWay = undefined;
      resolve();
      await new Promise((next) => setImmediate(next));
    }
  }

  async failWrite(): Promise<void> {
    this.#underWay?.reject(new Error('no space left on device'));
    this.#underWay = undefined;
    await new Promise((next) => setImmediate(next));
  }

  /** What the next process finds: the write under way came through or did not. */
  afterCrash(cameThrough: boolean): FakeStore {
    if (cameThrough && this.#underWay !== undefined) this.#apply(this.#underWay.changes);
    return new FakeStore(this.content, this.reservedUpTo, this.posted);
  }

  #apply({ puts, removed, reserves, postedPuts = [], postedRemoved = [] }: Changes): void {
    for (const { n, check, payload } of puts) this.content.set(n, { check, payload });
    for (const n of removed) this.content.delete(n);
    for (const { n, check, payload } of postedPuts) this.posted.set(n, { check, payload });
    for (const n of postedRemoved) this.posted.delete(n);
    if (reserves) this.reservedUpTo += BLOCK;
  }
}
