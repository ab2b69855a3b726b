import { join } from 'node:path';
import { expect } from 'chai';
import { atOnce } from '../../../src/exec/in-slices.ts';
import { encodeQueued, encodeWithinLimit } from '../../../src/agent/queue/outgoing-event.ts';
import { hasCheck, parseEvent } from '../../../src/resources/event.ts';
import { DiskQueue } from '../../../src/store/disk-queue.ts';
import { jsonCodec, protobufCodec } from '../../../src/wire/codec.ts';
import { checkEvent } from '../../support/example-events.ts';
import { perTest } from '../../support/fixture.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe('an event that the agent queues', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const queue = perTest(
    () => DiskQueue.open(join(directory.path, 'queue'), new ManualClock(), 0),
    (made) => made.close(),
  );

  for (const codec of [jsonCodec, protobufCodec]) {
    it(`has the exact timestamps of its metrics, also from the disk, in a session of ${codec.mediaType}`, async () => {
      const points = [{ name: 'load', value: 1, timestamp: 1_795_263_001_927_089_953n }];
      const event = parseEvent(checkEvent('web-01', 'disk', {}, { metrics: { points } }));
      if (!hasCheck(event)) expect.fail('the example has a check');
      await queue.write({
        puts: [{ n: 1, check: 'disk', payload: atOnce(encodeWithinLimit(event, new RecordedLog())) }],
        removed: [],
        reserves: false,
      });
      expect(codec.decodeEvent(Buffer.from(atOnce(encodeQueued(queue.read(1), codec))))).to.deep.equal(event);
    });
  }

  const MESSAGE_BYTES = 10 * 1024 * 1024;
  const tag = (length: number) => ({ name: 'host', value: 'x'.repeat(length) });
  const pointsOf = (count: number, tags: readonly { name: string; value: string }[]) =>
    Array.from({ length: count }, (_, index) => ({
      name: `m${index}`,
      value: 0.5,
      timestamp: 1_700_000_000,
      tags: [...tags],
    }));
  const hook = (output: string) => ({ metadata: { name: 'ps' }, timeout: 5, output, status: 0 });
  const large: Readonly<Record<string, ReturnType<typeof checkEvent>>> = {
    'many metrics': checkEvent('web-01', 'disk', {}, { metrics: { points: pointsOf(20_000, [tag(1)]) } }),
    'metrics with many tags': checkEvent(
      'web-01',
      'disk',
      {},
      { metrics: { points: pointsOf(5_000, Array(40).fill(tag(1))) } },
    ),
    'metrics with long tags': checkEvent('web-01', 'disk', {}, { metrics: { points: pointsOf(2_000, [tag(10_000)]) } }),
    'a long output': checkEvent('web-01', 'disk', { output: '\u0007'.repeat(MESSAGE_BYTES) }),
    'long outputs of hooks': checkEvent('web-01', 'disk', {
      output: 'late',
      hooks: [hook('a'.repeat(MESSAGE_BYTES)), hook('b'.repeat(MESSAGE_BYTES))],
    }),
    'long texts and many metrics': checkEvent(
      'web-01',
      'disk',
      { output: 'x'.repeat(MESSAGE_BYTES), hooks: [hook('y'.repeat(MESSAGE_BYTES))] },
      { metrics: { points: pointsOf(15_000, [tag(700)]) } },
    ),
  };
  for (const [what, example] of Object.entries(large)) {
    it(`has room in a message of a backend, with ${what}`, () => {
      const log = new RecordedLog();
      const payload = atOnce(encodeWithinLimit(parseEvent(example), log));
      expect(Buffer.byteLength(payload)).to.be.below(MESSAGE_BYTES);
      const { check, metrics } = jsonCodec.decodeEvent(Buffer.from(payload));
      expect(check?.metadata.name).to.equal('disk');
      if (!what.includes('metrics')) return;
      expect(metrics?.points?.length).to.be.above(700);
      expect(log.lines.map(({ msg }) => msg)).to.deep.equal([
        'event is too large for a backend, leaving out some of its metrics',
      ]);
    });
  }

  it('has a note in each output that was cut', () => {
    const example = large['long outputs of hooks'];
    if (example === undefined) expect.fail('the example is missing');
    const { check } = jsonCodec.decodeEvent(
      Buffer.from(atOnce(encodeWithinLimit(parseEvent(example), new RecordedLog()))),
    );
    expect(check?.output).to.equal('late');
    for (const { output } of check?.hooks ?? []) expect(output).to.match(/\nOutput cut at \d+ of 10485760 characters/);
  });
});
