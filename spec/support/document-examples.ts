/** A shell block of a document with the expected output from the block below it. */
export interface DocumentExample {
  /** Line number of the block, from 1. */
  line: number;
  /** The heading above the block. */
  heading: string;
  commands: string;
  /** Expected output; empty if no text block follows. */
  prints: string;
}

const FENCE = '```';

/** Returns the shell blocks of a Markdown document, in order. */
export function examplesIn(markdown: string): DocumentExample[] {
  const examples: DocumentExample[] = [];
  let heading = '';
  let fence: { language: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    if (fence === undefined && line.startsWith(FENCE)) {
      fence = { language: line.slice(FENCE.length), line: index + 1, lines: [] };
    } else if (fence !== undefined && line === FENCE) {
      const text = fence.lines.join('\n');
      const last = examples.at(-1);
      if (fence.language === 'sh') examples.push({ line: fence.line, heading, commands: text, prints: '' });
      if (fence.language === 'text' && last !== undefined) last.prints = text;
      fence = undefined;
    } else if (fence !== undefined) fence.lines.push(line);
    else if (line.startsWith('## ')) heading = line.slice(3);
  }
  return examples;
}

/** Splits printed output into values: JSON, which may span several lines, and other lines as strings. */
export function printedValues(text: string): unknown[] {
  const values: unknown[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    if (open === '' && !/^[[{]/.test(line)) {
      if (line !== '') values.push(line);
      continue;
    }
    open += `${line}\n`;
    const value = parsed(open);
    if (value === undefined) continue;
    values.push(value);
    open = '';
  }
  if (open !== '') throw new Error(`incomplete JSON: ${open}`);
  return values;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
