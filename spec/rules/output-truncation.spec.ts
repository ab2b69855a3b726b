import { expect } from 'chai';
import fc from 'fast-check';
import type { CheckEvent } from '../../src/resources/event.ts';
import { assertEvent, hasCheck, parseEventShape } from '../../src/resources/event.ts';
import { truncateOutput } from '../../src/rules/output-truncation.ts';
import { checkEvent } from '../support/example-events.ts';

const LABEL = 'sensu.io/output_truncated_bytes';

function eventWith(output: string, limit: number): CheckEvent {
  const event = parseEventShape(checkEvent('web-01', 'disk', { output, max_output_size: limit }));
  assertEvent(event);
  if (!hasCheck(event)) throw new Error('the example has a check');
  return event;
}

const cut = (output: string, limit: number): [string, string | undefined] => {
  const { check, metadata } = truncateOutput(eventWith(output, limit));
  return [check.output, metadata.labels?.[LABEL]];
};

describe('the output of a check with a limit', () => {
  const table: [string, number, string, string | undefined][] = [
    ['VERYLONG!', 4, 'VERY', '5'],
    ['VERYLONG!', 9, 'VERYLONG!', undefined],
    ['VERYLONG!', 8, 'VERYLONG', '1'],
    ['VERYLONG!', 0, 'VERYLONG!', undefined],
    ['', 4, '', undefined],
    ['héé', 2, 'h', '4'],
    ['héé', 3, 'hé', '2'],
    ['€€', 5, '€', '3'],
    ['€', 1, '', '3'],
    ['😀x', 3, '', '5'],
    ['😀x', 4, '😀', '1'],
  ];
  for (const [output, limit, kept, removed] of table) {
    it(`becomes "${kept}" from "${output}" at ${limit} bytes`, () => {
      expect(cut(output, limit)).to.deep.equal([kept, removed]);
    });
  }

  it('is the longest prefix of whole characters, and the label contains the number of missing bytes', () => {
    const outputs = fc.string({ unit: 'binary', maxLength: 60 });
    fc.assert(
      fc.property(outputs, fc.integer({ min: 1, max: 100 }), (output, limit) => {
        const [kept, removed] = cut(output, limit);
        const [bytes, keptBytes] = [Buffer.byteLength(output), Buffer.byteLength(kept)];
        expect(output.startsWith(kept)).to.equal(true);
        expect(keptBytes).to.be.at.most(limit);
        expect(removed).to.equal(bytes > limit ? String(bytes - keptBytes) : undefined);
        const next = output.codePointAt(kept.length);
        if (next !== undefined)
          expect(keptBytes + Buffer.byteLength(String.fromCodePoint(next))).to.be.greaterThan(limit);
      }),
    );
  });

  it('is truncated without changing the received event or its other labels', () => {
    const event = eventWith('VERYLONG!', 4);
    event.metadata.labels = { team: 'a' };
    const stored = truncateOutput(event);
    expect(event.check.output).to.equal('VERYLONG!');
    expect(event.metadata.labels).to.deep.equal({ team: 'a' });
    expect(stored.metadata.labels).to.deep.equal({ team: 'a', [LABEL]: '5' });
  });

  it('keeps a byte order mark', () => {
    expect(cut('\ufeffabc', 4)).to.deep.equal(['\ufeffa', '2']);
  });

  it('counts a character of two units between two steps once', () => {
    for (const before of [65_534, 65_535, 65_536]) {
      expect(cut(`x${'a'.repeat(before)}😀a`, 1)).to.deep.equal(['x', String(before + 5)]);
    }
  });

  it('is never encoded as a whole', () => {
    const { encode, encodeInto } = TextEncoder.prototype;
    const lengths: number[] = [];
    TextEncoder.prototype.encode = function counted(text) {
      const bytes = encode.call(this, text);
      lengths.push(bytes.length);
      return bytes;
    };
    TextEncoder.prototype.encodeInto = function counted(text, target) {
      lengths.push(target.length);
      return encodeInto.call(this, text, target);
    };
    try {
      expect(cut('é'.repeat(1_000_000), 1_000)).to.deep.equal(['é'.repeat(500), '1999000']);
    } finally {
      Object.assign(TextEncoder.prototype, { encode, encodeInto });
    }
    expect(Math.max(...lengths)).to.equal(65_536);
  });
});
