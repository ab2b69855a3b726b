import { expect } from 'chai';
import { EntityRoom, type SentResult } from '../../../src/actors/core/entity-room.ts';
import { EntityFull } from '../../../src/resources/errors.ts';

const LIMITS = { checks: 10, bytes: 1_000 };

describe('the room of an entity', () => {
  let stored: Map<string, number>;
  let measured: number;
  let room: EntityRoom;
  let atMs: number;

  beforeEach(() => {
    [stored, measured, atMs] = [new Map(), 0, 0];
    room = new EntityRoom(LIMITS, (prefix) => {
      measured += 1;
      return [...stored].filter(([key]) => key.startsWith(prefix)).map(([key, bytes]) => ({ key, bytes }));
    });
  });

  const add = (check: string, bytes: number, known: Partial<SentResult> = {}): boolean => {
    const key = `default/e/${check}`;
    const isNew = !stored.has(key);
    try {
      room.add({ entity: 'default/e', key, isNew, atMostBytes: bytes, bytes: () => bytes, atMs, ...known });
    } catch (error) {
      expect(error).to.be.instanceOf(EntityFull);
      return false;
    }
    stored.set(key, bytes);
    return true;
  };

  const fill = (checks: number, bytes: number): void => {
    for (let n = 0; n < checks; n += 1) expect(add(`c${n}`, bytes)).to.equal(true);
  };

  it('is measured once while results are added and refused', () => {
    fill(10, 100);
    for (let n = 0; n < 50; n += 1) expect(add(`more${n}`, 1)).to.equal(false);
    expect(measured).to.equal(1);
    expect(room.refused).to.deep.equal({ checks: 50, bytes: 0 });
  });

  it('is not measured for small results of known checks, even when it is full', () => {
    fill(10, 100);
    room.removed('default/e');
    expect(add('c1', 100)).to.equal(true);
    expect(measured).to.equal(1);
  });

  it('counts the latest size of each large result', () => {
    expect(add('a', 900)).to.equal(true);
    for (let n = 0; n < 20; n += 1) expect(add('a', 1_000)).to.equal(true);
    expect(add('b', 101)).to.equal(false);
    expect(add('a', 800)).to.equal(true);
    expect(add('b', 200)).to.equal(true);
    expect(add('c', 200)).to.equal(false);
    expect(room.refused).to.deep.equal({ checks: 0, bytes: 2 });
    expect(add('a', 100)).to.equal(true);
    expect(add('c', 800)).to.equal(true);
  });

  it('measures a result whose received bytes are more than what is stored of it', () => {
    expect(add('a', 1_000)).to.equal(true);
    expect(add('b', 50, { atMostBytes: 5_000 })).to.equal(true);
    expect(add('b', 50, { atMostBytes: undefined })).to.equal(true);
  });

  it('is measured again ten seconds later when results that were added may have been lost', () => {
    fill(10, 100);
    stored.delete('default/e/c3');
    expect(add('late', 1)).to.equal(false);
    atMs += 10_000;
    expect(add('late', 1)).to.equal(true);
    expect(measured).to.equal(2);
  });

  it('is measured again after a deletion and after a loss of the store', () => {
    fill(10, 100);
    stored.delete('default/e/c3');
    room.removed('default/e');
    expect(add('next', 1)).to.equal(true);
    stored.delete('default/e/c4');
    room.storeLost();
    expect(add('last', 1)).to.equal(true);
  });

  it('has no bound at a limit of 0', () => {
    room = new EntityRoom({ checks: 0, bytes: 0 }, () => []);
    fill(100, 1_000_000);
  });

  it('counts an entity as full for an hour after its last refusal', () => {
    fill(10, 100);
    add('more', 1);
    atMs += 1_800_000;
    add('more', 1);
    expect(room.fullAt(atMs + 3_599_999)).to.equal(1);
    expect(room.fullAt(atMs + 3_600_000)).to.equal(0);
  });
});
