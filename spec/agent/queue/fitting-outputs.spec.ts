import { expect } from 'chai';
import fc from 'fast-check';
import { encodeWithFittingOutputs } from '../../../src/agent/queue/fitting-outputs.ts';
import { atOnce } from '../../../src/exec/in-slices.ts';
import { type Event, parseEvent } from '../../../src/resources/event.ts';
import { encodeJson } from '../../../src/wire/json-codec.ts';
import { checkEvent } from '../../support/example-events.ts';

const eventOf = (output: string, ...hooks: readonly string[]): Event =>
  parseEvent(
    checkEvent('web-01', 'disk', {
      output,
      hooks: hooks.map((text) => ({ metadata: { name: 'ps' }, timeout: 5, output: text, status: 0 })),
    }),
  );
const EMPTY_BYTES = Buffer.byteLength(encodeJson(eventOf('', '', '')));
const outputsIn = (payload: string): string[] => {
  const { check } = JSON.parse(payload) as { check: { output: string; hooks?: { output?: string }[] } };
  return [check.output, ...(check.hooks ?? []).map(({ output = '' }) => output)];
};

describe('the outputs of an event that is too large', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 3_000 }),
    fc.string({
      unit: fc.constantFrom('\u0001', '"', '\n', 'é', '€', '😀', '\ud800', '\udc00', 'a'),
      maxLength: 3_000,
    }),
  );

  it('are cut to the room that there is, whatever their characters are', () => {
    fc.assert(
      fc.property(anyText, anyText, fc.nat({ max: 3_000 }), (output, hook, more) => {
        const event = eventOf(output, hook);
        const maxBytes = EMPTY_BYTES + 300 + more;
        const payload = atOnce(encodeWithFittingOutputs(event, maxBytes, encodeJson));
        expect(Buffer.byteLength(payload)).to.be.at.most(maxBytes);
        if (Buffer.byteLength(encodeJson(event)) <= maxBytes) {
          expect(payload).to.equal(encodeJson(event));
          return;
        }
        const kept = outputsIn(payload).map((text) => text.split('\nOutput cut at ')[0] ?? '');
        expect(output.startsWith(kept[0] ?? '') && hook.startsWith(kept[1] ?? '')).to.equal(true);
        // The longest character has six bytes and may have no room in each of the outputs.
        const unused = maxBytes - Buffer.byteLength(payload);
        expect(unused).to.be.below(2 * (100 + 12));
      }),
    );
  });

  it('are not encoded before they are cut, when they are too long by themselves', () => {
    const sizes: number[] = [];
    const steps = encodeWithFittingOutputs(eventOf('\u0001'.repeat(100_000), 'short'), 100_000, (event) => {
      const json = encodeJson(event);
      sizes.push(json.length);
      return json;
    });
    const payload = atOnce(steps);
    expect(Math.max(...sizes)).to.be.at.most(100_000);
    expect(outputsIn(payload)[1]).to.equal('short');
  });

  for (const character of ['a', '\u0001', '€']) {
    it(`are measured and encoded in steps, at most one encoding a step: ${JSON.stringify(character)}`, () => {
      const output = character.repeat(2_000_000);
      let encodings = 0;
      const steps = encodeWithFittingOutputs(eventOf(output, output), 3_000_000, (event) => {
        encodings += 1;
        return encodeJson(event);
      });
      let count = 0;
      for (;;) {
        const before = encodings;
        const step = steps.next();
        expect(encodings - before).to.be.at.most(1);
        count += 1;
        if (step.done === true) break;
      }
      // Each step measures at most 64 Ki characters, and three million bytes are measured twice.
      const characters = 3_000_000 / Buffer.byteLength(JSON.stringify(character).slice(1, -1));
      expect(count).to.be.at.least((2 * characters) / 65_536);
    });
  }
});
