import { readdirSync } from 'node:fs';
import { itAnswersAsRecorded } from '../../support/recorded-answers.ts';

/** Replays all recordings of a folder of `spec/golden`. */
const recordingsOf = (folder: string): string[] =>
  readdirSync(new URL(`../../golden/${folder}`, import.meta.url))
    .toSorted()
    .map((file) => `${folder}/${file.replace('.json', '')}`);

describe('cases 1 to 34, 46 to 50 and 52: the recorded answers about resources', () => {
  itAnswersAsRecorded(recordingsOf('rest'));
});

describe('the recorded answers about users, tokens, keys and rights', () => {
  itAnswersAsRecorded(recordingsOf('auth'));
});
