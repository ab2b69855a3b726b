import { join } from 'node:path';
import { expect } from 'chai';
import { encodeQueued, encodeWithinLimit } from '../../src/agent/outgoing-event.ts';
import { hasCheck, parseEvent } from '../../src/resources/event.ts';
import { DiskQueue } from '../../src/store/disk-queue.ts';
import { jsonCodec, protobufCodec } from '../../src/wire/codec.ts';
import { checkEvent } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

describe('an event that the agent queues', () => {
  const directory = perTest(temporaryDirectory, (made) => made.remove());
  const queue = perTest(
    () => DiskQueue.open(join(directory.path, 'queue'), new ManualClock(), 0),
    (made) => made.close(),
  );

  for (const codec of [jsonCodec, protobufCodec]) {
    it(`has the timestamps of its metrics to the digit, through the disk, in a session of ${codec.mediaType}`, async () => {
      const points = [{ name: 'load', value: 1, timestamp: 1_795_263_001_927_089_953n }];
      const event = parseEvent(checkEvent('web-01', 'disk', {}, { metrics: { points } }));
      if (!hasCheck(event)) expect.fail('the example has a check');
      await queue.write({
        puts: [{ n: 1, check: 'disk', payload: encodeWithinLimit(event) }],
        removed: [],
        reserves: false,
      });
      expect(codec.decodeEvent(Buffer.from(encodeQueued(queue.read(1), codec)))).to.deep.equal(event);
    });
  }
});
