import { InvalidResource } from '../../resources/errors.ts';
import { endOfText } from '../request/int64-literals.ts';

/** A text without it has only integers. */
const WITH_FRACTION_OR_EXPONENT = /\d[.eE]/;
const NUMBER = /\s*(-?\d[\d.eE+-]*)/y;
const INTEGER = /^-?\d+$/;

/**
 * Checks that members of the outermost object are written as integers, where they are numbers: the first generation refuses `1.0`
 * and `1e2` as integers, which are the same numbers after parsing. `source` is valid JSON. Source: spec/05 2.1.
 * @throws InvalidResource that names the member
 */
export function assertIntegerLiterals(source: string, members: readonly string[]): void {
  if (members.length === 0 || !WITH_FRACTION_OR_EXPONENT.test(source)) return;
  const written = new Map(numbersOf(source));
  for (const member of members) {
    if (!INTEGER.test(written.get(member) ?? '0')) {
      throw new InvalidResource(`${member} must be a whole number without a fraction or an exponent`);
    }
  }
}

/** Yields the members of the outermost object that are numbers, as they are written. Of equal names the last counts. */
function* numbersOf(source: string): Iterable<[member: string, literal: string]> {
  let depth = 0;
  let text = '';
  for (let at = 0; at < source.length;) {
    const character = source.charAt(at);
    if (character === '"') {
      const end = endOfText(source, at + 1);
      if (depth === 1) text = source.slice(at, end);
      at = end;
      continue;
    }
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === ':' && depth === 1) {
      NUMBER.lastIndex = at + 1;
      // The value of a repeated name may be no number.
      yield [String(JSON.parse(text)), NUMBER.exec(source)?.[1] ?? '0'];
    }
    at += 1;
  }
}
