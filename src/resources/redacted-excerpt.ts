import type { CheckEvent } from './event.ts';
import { REDACTED, secretNameTest } from './redaction.ts';

const MAX_CHARACTERS = 200;
/** A name and its value, as in `password=x`, `"token": "x"` or `--secret=x`. */
const NAMED_VALUE = /([\w.-]+)(["']?\s?[:=]\s?["']?)([^\s"',;]+)/g;
const HIGH_SURROGATE_AT_END = /[\uD800-\uDBFF]$/;

interface Range {
  from: number;
  to: number;
}

/**
 * Returns the first 200 characters of the output, without the values of labels, annotations and environment variables with secret
 * names, and without the values that follow such names in the text.
 */
export function outputExcerpt({ entity, check, metadata }: CheckEvent): string {
  const isSecret = secretNameTest(entity);
  const maps = [entity.metadata, check.metadata, metadata].flatMap(({ labels, annotations }) => [labels, annotations]);
  const values = [...maps.flatMap((map) => Object.entries(map ?? {})), ...(check.env_vars ?? []).map(nameAndValue)];
  const secrets = values.filter(([name, value]) => value !== '' && isSecret(name)).map(([, value]) => value);
  const excerpt = withoutSecrets(check.output, [...new Set(secrets)])
    .slice(0, MAX_CHARACTERS)
    .replaceAll(NAMED_VALUE, (whole, name: string, between: string) =>
      isSecret(name.replace(/^-+/, '')) ? `${name}${between}${REDACTED}` : whole,
    );
  return excerpt.slice(0, MAX_CHARACTERS).replace(HIGH_SURROGATE_AT_END, '');
}

function nameAndValue(variable: string): [name: string, value: string] {
  const equals = variable.indexOf('=');
  return [variable.slice(0, equals), variable.slice(equals + 1)];
}

/** Returns the first characters of a text. Replaces each secret that begins in them as a whole. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const ranges = secrets
    .flatMap((secret) => [...rangesOf(secret, text)])
    .toSorted((one, other) => one.from - other.from);
  let shown = '';
  let at = 0;
  for (const { from, to } of ranges) {
    if (from >= at) shown += text.slice(at, from) + REDACTED;
    at = Math.max(at, to);
  }
  return shown + text.slice(at, Math.max(at, MAX_CHARACTERS));
}

/** Finds the occurrences of a secret that begin in the first characters. Reads no further than these. */
function* rangesOf(secret: string, text: string): Iterable<Range> {
  const read = text.slice(0, MAX_CHARACTERS + secret.length - 1);
  for (let from = read.indexOf(secret); from !== -1; from = read.indexOf(secret, from + secret.length)) {
    yield { from, to: from + secret.length };
  }
}
