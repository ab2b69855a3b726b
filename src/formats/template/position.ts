/** Returns the line of an index in a text, counted from 1. */
export function lineOf(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** Returns the column of an index in a text, in bytes of its line, counted from 0. */
export const columnOf = (text: string, index: number): number =>
  Buffer.byteLength(text.slice(text.lastIndexOf('\n', index - 1) + 1, index));
