import { expect } from 'chai';
import { Pongs } from '../../../src/sessions/connection/pongs.ts';

describe('pongs', () => {
  let bodies: string[];
  let unwritten: (() => void)[];
  let pongs: Pongs;

  beforeEach(() => {
    bodies = [];
    unwritten = [];
    pongs = new Pongs((body, sent) => {
      bodies.push(body.toString());
      unwritten.push(sent);
    });
  });

  const ping = (from: number, to: number): void => {
    for (let n = from; n <= to; n += 1) pongs.answer(Buffer.from(String(n)));
  };

  it('answer each ping, with its body', () => {
    ping(1, 16);
    expect(bodies).to.deep.equal(Array.from({ length: 16 }, (_, index) => String(index + 1)));
  });

  it('answer only the newest ping while sixteen wait to be written', () => {
    ping(1, 1_000);
    expect(bodies).to.have.length(16);
    for (const sent of unwritten.splice(0)) sent();
    expect(bodies.slice(16)).to.deep.equal(['1000']);
  });

  it('answer each ping again when the peer reads', () => {
    ping(1, 20);
    for (const sent of unwritten.splice(0)) sent();
    for (const sent of unwritten.splice(0)) sent();
    ping(21, 23);
    expect(bodies.slice(16)).to.deep.equal(['20', '21', '22', '23']);
  });

  it('without a ping do not replace an answer', () => {
    ping(1, 17);
    pongs.sendUnsolicited();
    for (const sent of unwritten.splice(0)) sent();
    expect(bodies.slice(16)).to.deep.equal(['17']);
    pongs.sendUnsolicited();
    expect(bodies.slice(17)).to.deep.equal(['']);
  });

  it('retain no read buffer', () => {
    const read = Buffer.alloc(65_536, 'a');
    ping(1, 16);
    pongs.answer(read.subarray(0, 3));
    read.fill('b');
    unwritten[0]?.();
    expect(bodies.at(-1)).to.equal('aaa');
  });
});
