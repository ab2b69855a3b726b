/** General part of the API description, in CommonMark. */
export const PROSE = `The HTTP API of the backend. Agents connect to a separate WebSocket port, which this document does not cover.

**Authentication.** \`GET /auth\` exchanges a user name and password for an access token, valid for five minutes by default, and a
refresh token. Other requests send \`Authorization: Bearer <access token>\`, or \`Authorization: Key <key>\` with an API key created by
\`POST /api/core/v2/apikeys\`. Each operation lists the permission it requires: a verb on a resource type, granted by roles and
bindings.

**Paths.** An unknown path returns 404. A known path with an unsupported method returns 405 and lists the supported methods in
\`Allow\`. Both apply without authentication. A path with empty segments, \`.\` or \`..\` returns 301 with the normalized path; a
malformed percent escape returns 400.

**Bodies.** Unknown members are ignored. \`null\` counts as absent, except in a merge patch, where it removes the member. The content
type matters only for merge patches and forms. Lists are sorted by key.

**Errors** have the form \`{"message": "...", "code": n}\`, or a line of plain text where the operation says so. A 503 with
\`Retry-After\` means that nothing of the request was stored; send it again. While the backend starts, all 503 responses are plain text.

**Entity limit.** If the number of entities is limited, responses under \`/api/core\` carry \`Sensu-Entity-Count\`,
\`Sensu-Entity-Limit\` and \`Sensu-Entity-Warning\`. The warning also names entities whose results were refused within the
last hour, because they have too many checks or bytes.

**WebSocket.** \`GET /debug/inspect?ticket=<ticket>&actor=<actor>:<key>\` with \`Upgrade: websocket\` streams the activity of up to
50 actors as JSON text messages in the format of the XState inspector. Repeat \`actor\` for each actor. \`since\` starts the stream
in the past, at a time or at a ledger entry number. A ticket from \`POST /api/mon/v1/tickets\` replaces the \`Authorization\` header;
its user needs permission to \`get\` \`inspect\`. A rejected request returns 400, 401, 403, 404 or 503. The backend closes the
connection with 1001 when it stops, 1008 when the permission has been withdrawn, 1011 when inspection fails, and 1013 when the client reads
too slowly.`;

/** Descriptions of the groups that are not named after a resource. */
export const TAGS: Readonly<Record<string, string>> = {
  login: 'Tokens in exchange for a user name and password',
  status: 'Health, version and metrics of the backend, without authentication',
  documentation: 'This document, as JSON and as a web page',
  tickets: 'Single-use tickets for WebSocket connections',
  notifications: 'What became of the handlers of events, and dead letters',
  machines: 'The state machines that actors run',
  cluster: 'Members of the cluster, which is always a single backend',
  tessen: 'Telemetry settings, for compatibility; the backend never sends telemetry',
};
