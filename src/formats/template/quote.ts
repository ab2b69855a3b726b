const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** Quotes a text with the escapes of Go. */
export const quoted = (text: string): string =>
  `"${text.replaceAll(/["\\]|\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs}/gu, escaped)}"`;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x80) return ESCAPES[character] ?? `\\x${hex.padStart(2, '0')}`;
  return code < 0x1_00_00 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
