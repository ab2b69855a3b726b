import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Returns the text of a recorded file; `file` is relative to `spec/golden`. */
export function readGolden(file: string): string {
  return readFileSync(fileURLToPath(new URL(`../golden/${file}`, import.meta.url)), 'utf8');
}
