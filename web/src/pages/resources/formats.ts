import { toYaml } from './yaml.ts';

/** The forms in which a resource is shown and edited. */
export type Format = 'json' | 'yaml';

export const textOf = (value: unknown, format: Format): string =>
  format === 'yaml' ? `${toYaml(value).trimStart()}\n` : JSON.stringify(value, undefined, 2);

/** Parses an edited text. YAML has no aliases, so that a short text stays a small value. @throws Error that says what is wrong and where */
export async function valueOf(text: string, format: Format): Promise<object> {
  const value = format === 'yaml' ? await yamlOf(text) : jsonOf(text);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new Error('The text must be one object, with names and values.');
  }
  return value;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Words such as `yes` are read as texts or booleans as in the files of other tools: YAML 1.1. */
async function yamlOf(text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { version: '1.1', uniqueKeys: true });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(`This is not YAML: ${error.message}`, { cause: error });
  try {
    return document.toJS({ maxAliasCount: 0 }) as unknown;
  } catch (cause) {
    throw new Error(`This YAML cannot be used: ${(cause as Error).message}`, { cause });
  }
}
