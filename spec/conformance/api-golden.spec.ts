import { readdirSync } from 'node:fs';
import { itAnswersAsRecorded } from '../support/recorded-answers.ts';

/** All of a folder of `spec/golden`. */
const recordingsOf = (folder: string): string[] =>
  readdirSync(new URL(`../golden/${folder}`, import.meta.url))
    .toSorted()
    .map((file) => `${folder}/${file.replace('.json', '')}`);

describe('cases 1 to 34, 46 to 50 and 52: what the reference answered about resources', () => {
  itAnswersAsRecorded(recordingsOf('rest'));
});

describe('what the reference answered about users, tokens, keys and rights', () => {
  itAnswersAsRecorded(recordingsOf('auth'));
});
