import { expect } from 'chai';
import { refusalOf } from '../support/refusal.ts';

interface Kind<T> {
  parse(value: unknown): T;
  assert(resource: T): void;
  /** Members of one that breaks no rule; each row changes some. */
  valid: object;
}

/** A row is what is changed, and what it is refused with; undefined where it is accepted. */
export function testRefusals<T>({ parse, assert, valid }: Kind<T>, rows: [object, string | undefined][]): void {
  for (const [changes, message] of rows) {
    it(`with ${JSON.stringify(changes)} is ${message === undefined ? 'accepted' : `refused: ${message}`}`, () => {
      expect(refusalOf(() => assert(parse({ ...valid, ...changes })))).to.equal(message);
    });
  }
}

/** What `null` and what nothing renders as, the same for both. */
export function testDefaults(parse: (value: unknown) => object, rendered: object): void {
  it('renders what is empty as clients know it', () => {
    expect(JSON.parse(JSON.stringify(parse({})))).to.deep.equal(rendered);
    const nulls = Object.fromEntries(Object.keys(parse({})).map((member) => [member, null]));
    expect(JSON.parse(JSON.stringify(parse(nulls)))).to.deep.equal(rendered);
  });
}
