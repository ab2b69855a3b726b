/** The limit above which a text is cut. */
const MAX_SHOWN_CHARACTERS = 200;
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Makes an untrusted text safe for logs and responses: cuts it, and writes control and invisible characters as `\u{...}`. */
export function printable(text: string): string {
  const shown = text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}...` : text;
  return shown.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
