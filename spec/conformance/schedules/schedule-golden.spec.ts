import { expect } from 'chai';
import type { ApiAnswer } from '../../support/api-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { readGolden } from '../../support/golden-file.ts';
import { difference } from '../../support/golden-match.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { at } from '../../support/json-path.ts';

type Fields = Record<string, unknown>;

interface Answer {
  status: number;
  message?: string;
}

interface Write extends Answer {
  cron: string;
  ours?: Answer;
}

interface Row extends Answer {
  fields: Fields;
  /** Members of the stored check; `<absent>` if they are absent. */
  stored?: Fields;
  ours?: Answer;
}

const { write } = JSON.parse(readGolden('schedule/cron.json')) as { write: Write[] };
const { base, rows } = JSON.parse(readGolden('schedule/validation.json').replaceAll('{ns}', 'default')) as {
  base: Fields;
  rows: Row[];
};

/** Where the message continues with the text of a parser of the reference. */
const PARSER_TEXT =
  /(?<=failed to parse (?:int from|duration) .*?: |invalid (?:begin|end) time format: |syntax error in expression \d+: ).*$|(?<=^resource is invalid: )parsing time .*$/;
/** `rest/05-checks-validation` decides that a negative period is refused. */
const REFUSED: ReadonlySet<string> = new Set(['@every -5s']);

describe('a recorded definition of a check', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const api = perSuite(() => backend.login());

  /** Creates a check and returns the stored one as well. */
  async function created(check: Fields): Promise<{ answer: ApiAnswer; stored: unknown }> {
    const name = String(at(check, 'metadata', 'name'));
    const answer = await api.post('/ns/default/checks', check);
    const stored = answer.status === 201 ? (await api.get(`/ns/default/checks/${name}`)).json : undefined;
    if (answer.status === 201) await api.delete(`/ns/default/checks/${name}`);
    return { answer, stored };
  }

  function compare({ status, json, text }: ApiAnswer, expected: Answer): void {
    expect(status, text).to.equal(expected.status);
    if (expected.message === undefined) return;
    const message = expected.message.replace(PARSER_TEXT, '<string>');
    expect(difference(message, at(json, 'message'))).to.equal(undefined);
  }

  for (const { cron, ours, ...recorded } of write) {
    const expected = REFUSED.has(cron) ? { status: 400 } : (ours ?? recorded);
    it(`is answered with ${expected.status} for the cron expression ${JSON.stringify(cron)}`, async () => {
      const { answer } = await created({ ...base, interval: 0, cron });
      compare(answer, expected);
    });
  }

  for (const { fields, stored = {}, ours, ...recorded } of rows) {
    const expected = ours ?? recorded;
    it(`is answered with ${expected.status} for ${JSON.stringify(fields)}`, async () => {
      const { answer, stored: found } = await created({ ...base, ...fields });
      compare(answer, expected);
      if (expected.status !== 201) return;
      for (const [name, value] of Object.entries(stored)) {
        expect(difference(value, at(found, name) ?? (value === null ? null : '<absent>'), name)).to.equal(undefined);
      }
    });
  }
});
