import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { EventLog } from '../../../src/main/log/event-log.ts';
import { type Event, parseEventShape } from '../../../src/resources/event.ts';
import { eventually } from '../../support/eventually.ts';
import { checkEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { at } from '../../support/json-path.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** A device that can be opened and rejects every write. */
const FULL_DEVICE = '/dev/full';
/** More than a pipe holds. */
const LONG_OUTPUT = 'x'.repeat(200_000);
const PIPE_BYTES = 1_000_000;

const eventOf = (check: string, output = ''): Event => parseEventShape(checkEvent('log-01', check, { output }));

describe('the event log', () => {
  let eventLog: EventLog;
  afterEach(() => eventLog.stop());

  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const clock = perTest(() => new ManualClock());
  const log = perTest(() => new RecordedLog());

  function begin(file: string, maxBuffered = 100): void {
    eventLog = new EventLog({ file, maxBuffered, clock, log });
  }

  const announce = (...events: Event[]): void => {
    for (const event of events) eventLog.announced({ type: 'event.processed', event });
  };

  const checksIn = async (file: string): Promise<unknown[]> =>
    (await readFile(file, 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line) => at(JSON.parse(line), 'check', 'metadata', 'name'));

  const logged = (msg: string) => log.lines.filter((line) => line.msg === msg);

  it('writes events in order, even more than fit into one write', async () => {
    const file = join(directory.path, 'events');
    begin(file, 1_000);
    const names = Array.from({ length: 250 }, (_, n) => `c${n}`);
    announce(...names.map((name) => eventOf(name)));
    await eventLog.stop();
    expect(await checksIn(file)).to.deep.equal(names);
    expect(log.lines).to.deep.equal([]);
  });

  it('drops the oldest events beyond its bound and logs their number once a second', async () => {
    const file = join(directory.path, 'events');
    begin(file, 2);
    announce(...['a', 'b', 'c', 'd', 'e'].map((name) => eventOf(name)));
    expect(logged('events were lost to the event log')).to.deep.equal([]);
    await clock.advance(1_000);
    const [line] = logged('events were lost to the event log');
    expect(line?.fields).to.deep.include({ lost: 3, file });
    expect(line?.fields['err']).to.have.property('message', 'the event buffer is full');
    await eventLog.stop();
    expect(await checksIn(file)).to.deep.equal(['d', 'e']);
    expect(logged('events were lost to the event log')).to.have.lengthOf(1);
  });

  it('keeps the order of events when its ring buffer wraps around', async () => {
    const file = join(directory.path, 'events');
    begin(file, 3);
    const names = Array.from({ length: 20 }, (_, n) => `c${n}`);
    for (const name of names) {
      announce(eventOf(name));
      await eventLog.reopen();
    }
    expect(await checksIn(file)).to.deep.equal(names);
  });

  it('counts the events that a full disk rejects', async () => {
    begin(FULL_DEVICE);
    announce(eventOf('a'), eventOf('b'));
    await eventLog.stop();
    const [line] = logged('events were lost to the event log');
    expect(line?.fields).to.deep.include({ lost: 2 });
    expect(line?.fields['err']).to.have.property('code', 'ENOSPC');
  });

  it('warns of a file that cannot be opened, and writes to it once it can be opened', async () => {
    const file = join(directory.path, 'later', 'events');
    begin(file);
    announce(eventOf('a'));
    await eventLog.reopen();
    expect(logged('event log cannot be opened, events are not written to it').map(({ level }) => level)).to.deep.equal([
      'warn',
      'warn',
    ]);
    await mkdir(join(directory.path, 'later'));
    await eventLog.reopen();
    announce(eventOf('b'));
    await eventLog.stop();
    expect(await checksIn(file)).to.deep.equal(['b']);
  });

  it('counts the events lost while the file cannot be opened, and retries once a second', async () => {
    const file = join(directory.path, 'later', 'events');
    begin(file);
    const announceAndWait = async (...events: Event[]): Promise<void> => {
      announce(...events);
      await eventually(() => eventLog.waiting.used === 0, Boolean, { what: 'the end of the write' });
    };
    await announceAndWait(eventOf('a'), eventOf('b'));
    await mkdir(join(directory.path, 'later'));
    await clock.advance(999);
    await announceAndWait(eventOf('c'));
    await eventually(() => eventLog.waiting.dropped === 3, Boolean, { what: 'the third loss' });
    await clock.advance(1);
    await announceAndWait(eventOf('d'));
    await eventLog.stop();
    expect(await checksIn(file)).to.deep.equal(['d']);
    expect(eventLog.waiting.dropped).to.equal(3);
    const lines = logged('events were lost to the event log');
    expect(lines.map(({ fields }) => fields['lost'])).to.deep.equal([3]);
    expect(lines[0]?.fields['err']).to.have.property('code', 'ENOENT');
    expect(logged('event log cannot be opened, events are not written to it')).to.have.lengthOf(1);
    expect(logged('event log opened again')).to.have.lengthOf(1);
  });

  it('does not wait for the reader of a pipe', async () => {
    const file = await pipe();
    begin(file);
    announce(eventOf('a'));
    await eventLog.stop();
    expect(logged('event log cannot be opened, events are not written to it')).to.have.lengthOf(1);
  });

  it('starts a new line after an event that was written in part', async () => {
    const file = await pipe();
    const reader = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      begin(file);
      announce(eventOf('torn', LONG_OUTPUT));
      await eventually(() => eventLog.waiting.dropped === 1, Boolean, { what: 'the end of the write' });
      const part = await readAll(reader);
      expect(part.length).to.be.within(1, LONG_OUTPUT.length);
      announce(eventOf('whole'));
      const text = await eventually(() => readAll(reader), Boolean, { what: 'the next event' });
      const [rest, line] = text.split('\n');
      expect(rest).to.equal('');
      expect(at(JSON.parse(line ?? ''), 'check', 'metadata', 'name')).to.equal('whole');
    } finally {
      await reader.close();
    }
  });

  async function pipe(): Promise<string> {
    const file = join(directory.path, 'pipe');
    await promisify(execFile)('mkfifo', [file]);
    return file;
  }

  /** Returns the current content of the pipe. */
  async function readAll(reader: FileHandle): Promise<string> {
    try {
      const { buffer, bytesRead } = await reader.read(Buffer.alloc(PIPE_BYTES));
      return buffer.toString('utf8', 0, bytesRead);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return '';
      throw error;
    }
  }
});
