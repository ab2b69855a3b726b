/** Returns the parameters of a target. Pairs without a name are ignored, a name without `=` has an empty value, and of equal names the last counts. */
export function earlierQuery(target: string): Map<string, string> {
  const questionMark = target.indexOf('?');
  const query = new Map<string, string>();
  if (questionMark < 0) return query;
  for (const pair of target.slice(questionMark + 1).split('&')) {
    const equals = pair.indexOf('=');
    const [name, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
    if (name !== '') query.set(decoded(name), decoded(value));
  }
  return query;
}

/** A malformed escape stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** Returns the value of a parameter of digits; undefined for any other value, also a negative one. */
export function digitsIn(query: ReadonlyMap<string, string>, name: string): number | undefined {
  const value = query.get(name) ?? '';
  return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
