/** Of a text that a stranger chose; what is longer is cut. */
const MAX_SHOWN_CHARACTERS = 200;
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** A stranger's text as it may stand in logs and answers: cut, and characters that control a terminal or hide written as `\u{...}`. */
export function printable(text: string): string {
  const shown = text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}...` : text;
  return shown.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
