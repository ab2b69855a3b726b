import { expect } from 'chai';
import fc from 'fast-check';
import { decodeFrame, encodeFrame, eventNumberOf, ProtocolError } from '../../src/wire/frame.ts';

describe('a frame', () => {
  const messages: [string, string, string, string][] = [
    ['splits at its first line feed', 'event\n{}', 'event', '{}'],
    ['keeps the line feeds of its payload', 'event\na\nb\n', 'event', 'a\nb\n'],
    ['may have an empty payload', 'event\n', 'event', ''],
    ['may have an empty type', '\n{}', '', '{}'],
    ['keeps a carriage return as part of the type', 'event\r\n{}', 'event\r', '{}'],
    ['is not trimmed', ' event \n {} ', ' event ', ' {} '],
  ];
  for (const [what, message, type, payload] of messages) {
    it(what, () => {
      const frame = decodeFrame(Buffer.from(message));
      expect([frame.type, frame.payload.toString()]).to.deep.equal([type, payload]);
    });
  }

  const broken: [string, Buffer][] = [
    ['without a line feed', Buffer.from('no line feed at all')],
    ['that is empty', Buffer.alloc(0)],
    ['whose type is longer than 256 bytes', Buffer.from(`${'x'.repeat(257)}\n{}`)],
  ];
  for (const [what, message] of broken) {
    it(`${what} is a protocol error`, () => {
      expect(() => decodeFrame(message)).to.throw(ProtocolError);
    });
  }

  it('is unchanged by encoding and decoding', () => {
    const types = fc.stringMatching(/^[\x20-\x7e]{0,40}$/);
    fc.assert(
      fc.property(types, fc.uint8Array({ maxLength: 300 }), (type, bytes) => {
        const frame = decodeFrame(encodeFrame(type, Buffer.from(bytes)));
        expect(frame.type).to.equal(type);
        expect(frame.payload.equals(bytes)).to.equal(true);
      }),
    );
  });

  it('with a payload given as text carries its UTF-8 bytes', () => {
    expect(encodeFrame('event', '"ü"')).to.deep.equal(Buffer.from('event\n"ü"'));
  });

  it('decodes any bytes or throws ProtocolError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        try {
          decodeFrame(Buffer.from(bytes));
        } catch (error) {
          expect(error).to.be.instanceOf(ProtocolError);
        }
      }),
    );
  });
});

describe('the number of an event', () => {
  const types: [string, number | undefined | null][] = [
    ['event', undefined],
    ['event 1', 1],
    ['event 9007199254740991', 9_007_199_254_740_991],
    ['event 9007199254740993', null],
    ['event 0', null],
    ['event 01', null],
    ['event -1', null],
    ['event  1', null],
    ['event 1 ', null],
    ['event 1.5', null],
    ['event 99999999999999999', null],
    ['Event', null],
    ['events', null],
    ['keepalive', null],
    ['', null],
  ];
  for (const [type, expected] of types) {
    it(`in the type "${type}" is ${expected === null ? 'no number at all' : String(expected)}`, () => {
      expect(eventNumberOf(type)).to.equal(expected);
    });
  }

  it('is a whole number that is exact', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{1,20}$/), (digits) => {
        const number = eventNumberOf(`event ${digits}`);
        if (typeof number === 'number') expect(String(number)).to.equal(digits);
      }),
    );
  });
});
