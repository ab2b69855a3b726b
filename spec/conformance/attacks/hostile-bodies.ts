import { expect } from 'chai';
import { keepSentEmptyLists } from '../../../src/http/answer/sent-empty-lists.ts';
import { parseObject, parseSingleObject } from '../../../src/http/request/json-body.ts';
import { applyPatch } from '../../../src/http/request/merge-patch.ts';
import { parseCheckShape } from '../../../src/resources/check.ts';
import { InvalidResource } from '../../../src/resources/errors.ts';
import { parseHandlerShape } from '../../../src/resources/handler.ts';
import { redactFields } from '../../../src/resources/redaction.ts';
import { parseRoleShape } from '../../../src/resources/role.ts';
import { SeededRandom } from '../../support/seeded-random.ts';

/** Names of members that reach a prototype in careless code, and harmless ones. */
export const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'metadata',
  'labels',
  'name',
  'rules',
  'a',
] as const;
/** A careless merge of `{"__proto__":{"polluted":1}}` gives this member to every object. */
const MEMBERS = [...KEYS, 'polluted'];
const LEAVES = ['1', '"polluted"', 'null', '[]', '{}', 'true'] as const;
const MAX_DEPTH = 4;

/** JSON of an object whose member names reach a prototype in careless code. */
function hostileObject(random: SeededRandom, depth = 0): string {
  const members = Array.from({ length: random.below(5) }, () => {
    const key = MEMBERS[random.below(MEMBERS.length)] ?? 'a';
    return `"${key}":${hostileValue(random, depth + 1)}`;
  });
  return `{${members.join(',')}}`;
}

function hostileValue(random: SeededRandom, depth: number): string {
  const choice = depth < MAX_DEPTH ? random.below(3) : 0;
  if (choice === 1) return hostileObject(random, depth);
  if (choice === 2) {
    return `[${Array.from({ length: random.below(4) }, () => hostileValue(random, depth + 1)).join(',')}]`;
  }
  return LEAVES[random.below(LEAVES.length)] ?? '1';
}

/** Generates this many different bodies; the same seed yields the same bodies. */
export function hostileBodies(count: number, seed: number): string[] {
  const random = new SeededRandom(seed);
  const bodies = new Set<string>();
  while (bodies.size < count) bodies.add(hostileObject(random));
  return [...bodies];
}

/** Asserts after each test of the suite that none changes what every object inherits. */
export function assertNothingInherited(): void {
  const atFirst = inherited();
  afterEach(() => {
    expect(inherited()).to.equal(atFirst);
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });
}

/** The members that every object inherits at the moment. */
const inherited = (): string =>
  JSON.stringify(
    [Object, Array, Function, String, Map].map(({ prototype }) => [
      Object.getOwnPropertyNames(prototype),
      Object.getOwnPropertyNames(Object.getPrototypeOf(prototype) ?? {}),
    ]),
  );

/** Returns nothing when the input is refused. */
export const refusedOr = <T>(act: () => T): T | undefined => {
  try {
    return act();
  } catch (error) {
    if (error instanceof InvalidResource) return undefined;
    throw error;
  }
};

/** Parses, merges, shapes and redacts this many bodies. */
export function itSurvivesBodies(count: number): void {
  it(`A6 of ${count} different bodies do not reach it through parsing, merging, shaping or redaction`, () => {
    const bodies = hostileBodies(count, 6);
    const shapes = [parseCheckShape, parseHandlerShape, parseRoleShape];
    const tried = new Set<string>();
    for (const [n, body] of bodies.entries()) {
      tried.add(body);
      const target = refusedOr(() => parseObject(Buffer.from(body))) ?? {};
      const other = bodies[(n * 7 + 1) % bodies.length] ?? '';
      const patch = refusedOr(() => parseSingleObject(Buffer.from(other))) ?? {};
      const merged = applyPatch(target, patch);
      keepSentEmptyLists(merged, patch);
      redactFields(merged, ['__proto__']);
      refusedOr(() => shapes[n % shapes.length]?.(merged));
      if (Object.getPrototypeOf(merged) !== Object.prototype) throw new Error(`${body} changed a prototype`);
      if (({} as Record<string, unknown>)['polluted'] !== undefined) throw new Error(`${body} polluted Object`);
    }
    expect(tried).to.have.property('size', count);
  }).timeout(60_000);
}
