import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ApiUnderTest } from '../api-under-test.ts';

/** Writes the OpenAPI document, as the API answers it but indented, to the file that the command line names. */
async function writeDocument(file: string): Promise<void> {
  const api = await ApiUnderTest.start();
  try {
    const { body } = await api.get('/openapi.json');
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify(body, null, 2));
  } finally {
    await api.stop();
  }
}

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('name the file to write');
await writeDocument(file);
