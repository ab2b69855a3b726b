import type { IncomingMessage } from 'node:http';

/** The part of a refusal's body that the log shows. */
const MAX_REFUSAL_BYTES = 1024;
const PORT_OF_AGENTS = 'backend-url needs the port of the backend for agents, 8081 by default';

/** Describes a response that refuses the handshake: its status and the start of its body. The body of a web page is omitted. */
export async function refusalText(response: IncomingMessage): Promise<string> {
  const { statusCode, headers } = response;
  const failed = `handshake failed with status ${statusCode}`;
  if (statusCode === 200 && headers['content-type']?.startsWith('text/html') === true) {
    response.destroy();
    return `${failed}: the answer is a web page, as on the port of the dashboard; ${PORT_OF_AGENTS}`;
  }
  let body = '';
  try {
    for await (const chunk of response) {
      body += String(chunk);
      if (body.length >= MAX_REFUSAL_BYTES) break;
    }
  } catch (error) {
    body += ` (${error instanceof Error ? error.message : String(error)})`;
  }
  return `${failed}: ${body.slice(0, MAX_REFUSAL_BYTES).trimEnd()}`;
}
