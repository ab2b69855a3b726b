/** What is true of all of the API, in CommonMark. */
export const PROSE = `The interface of the backend. Agents connect at another port, by WebSocket; that is not described here.

**Credentials.** \`GET /auth\` gives an access token of five minutes and a refresh token for user and password. Everything else
takes \`Authorization: Bearer <access token>\`, or \`Authorization: Key <key>\` with a key of \`POST /api/core/v2/apikeys\`. Each
operation says which right it needs: a verb on a kind of resource, which roles and bindings give.

**Paths.** One that nothing is described for is 404; another method on one that is described is 405, and its header \`Allow\` names those
that are. Both are told without credentials. A path with empty segments, \`.\` or \`..\` is answered 301 with its clean spelling; a
malformed percent escape is a bare 400.

**Bodies.** Unknown members are ignored, and \`null\` is the same as absent, except in a merge patch, where it removes. The content type
is asked for only of a merge patch and of a form. Lists are in order of their keys.

**Errors** are \`{"message": "...", "code": n}\`, or a line of text where that is said. 503 with \`Retry-After\` means that nothing
of the request was kept: send it again. While the backend starts, it is a line of text everywhere.

**Headers.** While the number of entities is limited, answers under \`/api/core\` have \`Sensu-Entity-Count\`, \`Sensu-Entity-Limit\`
and \`Sensu-Entity-Warning\`.

**WebSocket.** \`GET /debug/inspect?ticket=<ticket>&actor=<actor>:<key>\` with \`Upgrade: websocket\` shows what up to 50 actors do, as
text messages in JSON of XState's inspector; \`actor\` is repeated for each, and \`since\` begins in the past, at a time or at a number
of the ledger. A ticket of \`POST /api/mon/v1/tickets\` takes the place of a header, and its user needs the right to \`get\`
\`inspect\`. It is refused as other requests are: 400, 401, 403, 404 and 503. It is closed with 1001 when the backend stops, 1008 when
the right has ended, 1011 when inspection fails and 1013 when messages are not read fast enough.`;

/** The groups of operations that are not named after a resource, and what they are. */
export const TAGS: Readonly<Record<string, string>> = {
  login: 'tokens for user and password',
  status: 'how the backend is, without credentials',
  documentation: 'this document, and a page that shows it',
  tickets: 'one WebSocket each',
  machines: 'the state machines that actors run',
  cluster: 'the backends, of which there is one',
  tessen: 'telemetry, of which there is none',
};
