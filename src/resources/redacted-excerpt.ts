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
export function outputExcerpt(event: CheckEvent): string {
  const isSecret = secretNameTest(event.entity);
  const shown = withoutSecrets(event.check.output, secretsOf(event, isSecret)).slice(0, MAX_CHARACTERS);
  const excerpt = shown.replaceAll(NAMED_VALUE, (whole, name: string, between: string) =>
    isSecret(name.replace(/^-+/, '')) ? `${name}${between}${REDACTED}` : whole,
  );
  return excerpt.slice(0, MAX_CHARACTERS).replace(HIGH_SURROGATE_AT_END, '');
}

/** Returns the values of the labels, annotations and environment variables with secret names. */
function secretsOf({ entity, check, metadata }: CheckEvent, isSecret: (name: string) => boolean): Set<string> {
  const secrets = new Set<string>();
  const add = ([name, value]: [name: string, value: string]): void => {
    if (value !== '' && isSecret(name)) secrets.add(value);
  };
  for (const { labels, annotations } of [entity.metadata, check.metadata, metadata]) {
    if (labels !== undefined) Object.entries(labels).forEach(add);
    if (annotations !== undefined) Object.entries(annotations).forEach(add);
  }
  check.env_vars?.forEach((variable) => {
    add(nameAndValue(variable));
  });
  return secrets;
}

function nameAndValue(variable: string): [name: string, value: string] {
  const equals = variable.indexOf('=');
  return [variable.slice(0, equals), variable.slice(equals + 1)];
}

/** Returns the first characters of a text. Replaces each secret that begins in them as a whole. */
function withoutSecrets(text: string, secrets: ReadonlySet<string>): string {
  const ranges = [...secrets]
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
