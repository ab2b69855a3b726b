import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ApiUnderTest } from '../api-under-test.ts';

/** Writes the document of the API into the file that is named, as the API answers it but to be read by people. */
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
