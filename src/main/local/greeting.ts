import { quoted } from './start-command.ts';

export interface Greeting {
  /** Where the listeners are reached, `host:port`. */
  addresses: { api: string; agents: string; dashboard: string };
  /** The listeners that other machines can reach, `host:port`. */
  open: readonly string[];
  username: string;
  /** Undefined when the password of the first start was changed. */
  password: string | undefined;
  /** The directory of all files, and that of the backend's data, which may be the same. */
  home: string;
  stateDir: string;
  /** The command with which other machines can connect. */
  openingCommand: string;
  /** The file that the handlers of the first checks append alerts to. */
  alertFile: string;
  /** The path of the program `mon-backend`. */
  backendCommand: string;
}

/** What `npm start` prints when everything runs. Its commands can be pasted into a shell. */
export function greeting(given: Greeting): string {
  const { addresses, open, username, password, home, stateDir, alertFile, backendCommand, openingCommand } = given;
  const { api, agents, dashboard } = addresses;
  const shownPassword = password ?? 'as you changed it';
  // Without a password curl asks for it.
  const credentials = password === undefined ? username : `${username}:${password}`;
  const curl = `curl -s -w '\\n' -H "Authorization: Bearer $TOKEN"`;
  const backend = `${quoted(process.execPath)} ${quoted(backendCommand)}`;
  return `mon is running: http://${dashboard}
Log in as ${username}, password ${shownPassword}. Ctrl-C stops mon; its data stays in ${home}

  dashboard  http://${dashboard}, with a tour at http://${dashboard}/n/default/tour
  REST API   http://${api}/api/core/v2, described at http://${api}/docs
  agents     ws://${agents}
  user       ${username}
  password   ${shownPassword}
  data       ${stateDir === home ? home : `${home}, with the state directory ${stateDir}`}

${reach(open, openingCommand)}

Read the events and the ledger:
  TOKEN=$(curl -s -u ${credentials} http://${api}/auth | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  ${curl} http://${api}/api/core/v2/namespaces/default/events
  ${curl} http://${api}/api/mon/v1/ledger

Raise an alert, wait for its notification, and ask why it came:
  ${curl} -X PUT http://${api}/api/core/v2/namespaces/default/events/example/alert \\
    -d '{"entity":{"entity_class":"proxy","metadata":{"name":"example"}},"check":{"metadata":{"name":"alert"},"interval":60,"status":2,"output":"it happened","handlers":["alerts"]}}'
  for i in 1 2 3 4 5 6 7 8 9 10; do grep -s '"it happened"' ${quoted(alertFile)} && break; sleep 1; done | tail -n 1
  ${curl} http://${api}/api/mon/v1/namespaces/default/events/example/alert/explain

Verify the ledger, and make a backup, also while mon runs:
  ${backend} ledger verify --state-dir ${quoted(stateDir)}
  ${backend} backup --state-dir ${quoted(stateDir)}
`;
}

const reach = (open: readonly string[], openingCommand: string): string =>
  open.length === 0
    ? `Only this machine can connect. To let other machines connect:\n  ${openingCommand}`
    : `Other machines can connect to ${open.join(', ')}, without TLS.`;
