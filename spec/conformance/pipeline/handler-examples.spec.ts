import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ADMIN } from '../../support/api-client.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { examplesIn, printedValues } from '../../support/document-examples.ts';
import { difference } from '../../support/golden-match.ts';
import { at } from '../../support/json-path.ts';
import { listenLocally, portOf } from '../../support/local-server.ts';
import { type BlockResult, runBlocks } from '../../support/shell-blocks.ts';
import { SmtpSink } from '../../support/smtp-sink.ts';

const DOCUMENT = readFileSync(fileURLToPath(new URL('../../../docs/handlers.md', import.meta.url)), 'utf8');
const CHAT_TOKEN = 'xoxb-of-the-chat';

interface Posted {
  headers: IncomingHttpHeaders;
  body: string;
}

/** An HTTP endpoint that answers `ok` and keeps what is posted to it. */
function endpoint(posted: Posted[]): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      posted.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.end('ok');
    });
  });
}

describe('the examples in docs/handlers.md', () => {
  const examples = examplesIn(DOCUMENT);
  const posted: Posted[] = [];
  const hook = endpoint(posted);
  let smtp: SmtpSink;
  let backend: BackendProcess;
  let results: BlockResult[] = [];

  before(async function () {
    this.timeout(90_000);
    await listenLocally(hook);
    smtp = await SmtpSink.listen();
    backend = await BackendProcess.start({ environment: { MON_SECRET_CHAT: CHAT_TOKEN } });
    results = await runBlocks(
      examples.map(({ commands }) => commands),
      {
        API: `http://127.0.0.1:${backend.apiPort}`,
        PASSWORD: ADMIN.password,
        HOOK: `http://127.0.0.1:${portOf(hook)}/alerts`,
        SMTP: smtp.address,
      },
    );
  });

  after(async () => {
    await backend.stop();
    await smtp.close();
    hook.close();
    await once(hook, 'close');
  });

  for (const [index, { heading, line, prints }] of examples.entries()) {
    it(`print the documented output: ${heading}, line ${line}`, () => {
      const { code, stdout, stderr } = results[index] ?? { code: NaN, stdout: '', stderr: 'not run' };
      expect([code, stderr]).to.deep.equal([0, '']);
      expect(difference(printedValues(prints), printedValues(stdout)), stdout).to.equal(undefined);
    });
  }

  it('post the event to the HTTP endpoint, with the secret and the id of the notification', () => {
    const [only, ...others] = posted;
    expect(others).to.deep.equal([]);
    expect(only?.headers).to.include({ authorization: `Bearer ${CHAT_TOKEN}`, 'content-type': 'application/json' });
    expect(only?.headers['idempotency-key']).to.match(/^[0-9a-f-]{36}$/);
    const event: unknown = JSON.parse(only?.body ?? '');
    expect([at(event, 'check', 'output'), at(event, 'entity', 'metadata', 'name')]).to.deep.equal([
      'CRITICAL: / is full',
      'web-1',
    ]);
  });

  it('mail the first event of the incident only', () => {
    expect(smtp.mails).to.deep.equal([
      {
        from: 'mon@example.org',
        to: ['ops@example.org'],
        data: [
          'From: mon@example.org',
          'To: ops@example.org',
          'Subject: CRITICAL: http on web-1',
          '',
          'no answer',
        ].join('\r\n'),
      },
    ]);
  });

  it('leave the secret in no line of the log', () => {
    expect(JSON.stringify(backend.logs)).to.not.include(CHAT_TOKEN);
  });
});
