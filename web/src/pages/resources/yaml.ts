const PLAIN = /^(?:[A-Za-z_/]|\.{1,2}\/)[\w ./@%+:-]*$/;
/** Plain words that YAML 1.1, or its parsers, read as something other than a text. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|e[-+]?\d+)$/i;
const INDENT = '  ';

/** Writes a JSON value as YAML, which both YAML 1.1 and 1.2 read as the same value. */
export function toYaml(value: unknown, indent = ''): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return value.map((item) => `\n${indent}- ${nested(item, indent + INDENT).trimStart()}`).join('');
  }
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    if (entries.length === 0) return '{}';
    return entries
      .map(([name, member]) => `\n${indent}${text(name)}:${separated(nested(member, indent + INDENT))}`)
      .join('');
  }
  return scalar(value);
}

const nested = (value: unknown, indent: string): string => toYaml(value, indent);
const separated = (written: string): string => (written.startsWith('\n') ? written : ` ${written}`);

function scalar(value: unknown): string {
  return typeof value === 'string' ? text(value) : JSON.stringify(value);
}

const text = (value: string): string =>
  PLAIN.test(value) && !RESERVED.test(value) && !/: |:$| #| $/.test(value) ? value : JSON.stringify(value);
