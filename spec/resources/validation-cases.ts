import { expect } from 'chai';
import { validationErrorOf } from '../support/validation-error.ts';

interface Kind<T> {
  parse(value: unknown): T;
  assert(resource: T): void;
  /** A valid resource. Each case changes some members. */
  valid: object;
}

/** Tests the validation of a kind. A case has the changed members and the error message, or undefined when they are accepted. */
export function testValidation<T>({ parse, assert, valid }: Kind<T>, cases: [object, string | undefined][]): void {
  for (const [changes, message] of cases) {
    it(`is ${message === undefined ? 'accepted' : 'rejected'} with ${JSON.stringify(changes)}${message === undefined ? '' : `: ${message}`}`, () => {
      expect(validationErrorOf(() => assert(parse({ ...valid, ...changes })))).to.equal(message);
    });
  }
}

/** Tests that absent members and members that are `null` are rendered in the same way. */
export function testDefaults(parse: (value: unknown) => object, rendered: object): void {
  it('renders absent members and null alike, as clients expect', () => {
    expect(JSON.parse(JSON.stringify(parse({})))).to.deep.equal(rendered);
    const nulls = Object.fromEntries(Object.keys(parse({})).map((member) => [member, null]));
    expect(JSON.parse(JSON.stringify(parse(nulls)))).to.deep.equal(rendered);
  });
}
