import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { perSuite } from '../support/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { canStartSystemd, SystemdSystem } from './systemd-system.ts';
import { buildPackage, packTarball, ROOT } from './throwaway-system.ts';

/** Shell functions: `api` sends a request as the administrator, `until_true` repeats a command for up to 30 seconds. */
const FUNCTIONS = `
  api() {
    token=$(curl -sf -u admin:12345678 http://127.0.0.1:8080/auth | sed 's/.*access_token":"\\([^"]*\\)".*/\\1/')
    path=$1; shift
    curl -sS --fail-with-body -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \\
      "http://127.0.0.1:8080/api/core/v2/namespaces/default/$path" "$@"
  }
  until_true() {
    for attempt in $(seq 300); do if "$@"; then return; fi; sleep 0.1; done
    echo "not true in 30 seconds: $*" >&2; return 1
  }
  of_unit() { systemctl show --property "$1" --value mon-backend; }
  has_content() { test -s "$1"; }
`;
const REPORT = '/var/log/mon/report';
/** Prints as whom a handler's command runs, and what it may do. */
const HANDLER = {
  metadata: { name: 'report', namespace: 'default' },
  type: 'pipe',
  command: `(id -un
    grep NoNewPrivs /proc/self/status
    for path in /etc /usr /var/lib; do touch $path/written 2> /dev/null && echo "wrote to $path"; done
    head -c 1 /var/lib/mon/mon-backend/store/data.mdb > /dev/null 2>&1 && echo "read the store"
    ls /home > /dev/null 2>&1 && echo "read /home"
    [ "$(id -un)" = mon ] || NOTIFY_SOCKET=/run/systemd/notify systemd-notify WATCHDOG=trigger
    echo done) > ${REPORT}.part; mv ${REPORT}.part ${REPORT}`,
};
const PRINT_USER_AND_ACCESS =
  'id -un; head -c 1 /var/lib/mon/mon-backend/store/data.mdb > /dev/null 2>&1 && echo read; true';
const failing = (check: string) => ({
  entity: { metadata: { name: 'server', namespace: 'default' }, entity_class: 'proxy' },
  check: { metadata: { name: check, namespace: 'default' }, interval: 60, status: 2, handlers: ['report'] },
});
const CHECK = {
  metadata: { name: 'load', namespace: 'default' },
  command: '/usr/lib/nagios/plugins/check_load -w 100,100,100 -c 200,200,200',
  interval: 1,
  subscriptions: ['linux'],
  publish: true,
};

/** The first code block of a language after a sentence of `docs/security.md`. */
function documented(sentence: string, language: string): string {
  const text = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');
  const part = text.slice(text.indexOf(sentence));
  return new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(part)?.[1] ?? '';
}

/** Shell commands that make a drop-in of a unit as `docs/security.md` shows it, and run the commands that follow it there. */
const applyDocumented = (sentence: string, unit: string): string => `
  mkdir -p /etc/systemd/system/${unit}.service.d
  cat > /etc/systemd/system/${unit}.service.d/documented.conf << 'END'\n${documented(sentence, 'ini')}\nEND
  ${documented(sentence, 'sh')}`;

if (canStartSystemd) declare();
else console.log('skipped: tests of the units with systemd, which need root, systemd and control groups of version 2');

function declare(): void {
  describe('the units, with systemd as the first process', function () {
    this.timeout(180_000);
    const directory = perSuite(temporaryDirectory, (made) => made.remove());
    const system = perSuite(() => {
      packTarball(directory.path);
      for (const name of ['mon-backend', 'mon-agent']) buildPackage(directory.path, name, '0.1.0');
      return SystemdSystem.start(directory.path);
    });
    const run = (script: string): string[] => system.run(`${FUNCTIONS}${script}`).trim().split('\n');

    before(() => {
      run(`export MON_BACKEND_CLUSTER_ADMIN_USERNAME=admin MON_BACKEND_CLUSTER_ADMIN_PASSWORD=12345678
        setpriv --reuid mon --regid mon --clear-groups mon-backend init 2> /dev/null
        printf 'MON_BACKEND_EVENT_LOG_FILE=/var/log/mon/events.log\\n' > /etc/default/mon-backend
        printf 'MON_NAME=here\\nMON_SUBSCRIPTIONS=linux\\n\
MON_KEEPALIVE_INTERVAL=2\\nMON_KEEPALIVE_WARNING_TIMEOUT=5\\n' > /etc/default/mon-agent
        chown root:mon /etc/default/mon-*; chmod 0640 /etc/default/mon-*`);
    });

    it('start a backend that answers as soon as systemctl returns', () => {
      const output = run(`systemctl start mon-backend
        curl -sf -o /dev/null http://127.0.0.1:8080/health && echo answers
        of_unit User`);
      expect(output).to.deep.equal(['answers', 'mon']);
    });

    it('start the backend again after it was killed', () => {
      const output = run(`kill -KILL $(of_unit MainPID)
        has_restarted() { [ "$(of_unit NRestarts)" = 1 ] && [ "$(of_unit ActiveState)" = active ]; }
        until_true has_restarted
        curl -sf -o /dev/null http://127.0.0.1:8080/health && echo answers`);
      expect(output).to.deep.equal(['answers']);
    });

    it('reload the backend, which opens its logs again and continues', () => {
      const output = run(`pid=$(of_unit MainPID)
        mv /var/log/mon/events.log /var/log/mon/events.log.1
        systemctl reload mon-backend
        until_true test -e /var/log/mon/events.log
        [ "$pid" = "$(of_unit MainPID)" ] && echo same`);
      expect(output).to.deep.equal(['same']);
    });

    it('let commands of handlers write to the directories of mon only, and gain no rights', () => {
      const output = run(`api handlers -d '${JSON.stringify(HANDLER).replaceAll("'", "'\\''")}'
        api events -o /dev/null -d '${JSON.stringify(failing('as-mon'))}'
        until_true has_content ${REPORT}
        cat ${REPORT}`);
      expect(output).to.deep.equal(['mon', 'NoNewPrivs:\t1', 'read the store', 'done']);
    });

    it('run an agent that executes a plugin, and whose stop raises a keepalive alert', () => {
      const output = run(`systemctl start mon-agent
        api checks -d '${JSON.stringify(CHECK)}'
        has_result() { api events/here/load 2> /dev/null | grep -q '"output":"LOAD OK - '; }
        until_true has_result
        systemctl stop mon-agent
        systemctl show --property Result --value mon-agent
        sleep 8; api events/here/keepalive | grep -o '"state":"[a-z]*"'`);
      expect(output).to.deep.equal(['success', '"state":"failing"']);
    });

    it('run an agent as a user of its own, whose checks cannot read the store, as docs/security.md shows', () => {
      const output = run(`${applyDocumented('Give the agent a user of its own', 'mon-agent')}
        api checks -d '${JSON.stringify({ ...CHECK, metadata: { name: 'user', namespace: 'default' }, command: PRINT_USER_AND_ACCESS })}'
        has_result() { api events/here/user 2> /dev/null | grep -q '"output":"'; }
        until_true has_result
        api events/here/user | grep -o '"output":"[^"]*"'
        systemctl stop mon-agent`);
      expect(output).to.deep.equal(['"output":"mon-agent\\n"']);
    });

    it('run commands as another user as docs/security.md shows, whose directory an upgrade leaves alone', () => {
      const output = run(`rm ${REPORT}
        ${applyDocumented('With `--command-user` it must run as root', 'mon-backend')}
        chmod 1777 /var/log/mon
        is_ready() { curl -sf -o /dev/null http://127.0.0.1:8080/ready; }
        until_true is_ready
        pid=$(of_unit MainPID)
        api events -o /dev/null -d '${JSON.stringify(failing('as-command-user'))}'
        until_true has_content ${REPORT}
        cat ${REPORT}; of_unit User
        sleep 1; [ "$pid" = "$(of_unit MainPID)" ] && echo same
        dpkg --force-depends -i /packages/mon-backend_0.1.0-1_amd64.deb > /dev/null 2>&1
        stat -c '%U %a' /var/lib/mon /var/lib/mon/mon-backend`);
      const owners = ['root 755', 'root 700'];
      expect(output).to.deep.equal(['mon-commands', 'NoNewPrivs:\t1', 'done', 'root', 'same', ...owners]);
    });

    it('do not start the backend again when its store is damaged', () => {
      const output = run(`systemctl stop mon-backend
        rm -r /etc/systemd/system/mon-backend.service.d; chown -R mon:mon /var/lib/mon/mon-backend
        systemctl daemon-reload
        head -c 8192 /dev/zero | dd of=/var/lib/mon/mon-backend/store/data.mdb conv=notrunc 2> /dev/null
        systemctl start mon-backend 2> /dev/null || echo refused
        sleep 3
        of_unit ExecMainStatus; of_unit ActiveState; of_unit SubState`);
      expect(output).to.deep.equal(['refused', '5', 'failed', 'failed']);
    });

    it('stop and disable the service when its package is removed, and not when it is upgraded', () => {
      const output = run(`systemctl enable mon-agent 2> /dev/null
        systemctl start mon-agent
        dpkg --force-depends -i /packages/mon-agent_0.1.0-1_amd64.deb > /dev/null 2>&1
        systemctl is-active mon-agent
        dpkg --remove mon-agent > /dev/null 2>&1
        systemctl is-active mon-agent || true
        pgrep -f '[/]usr/lib/mon-agent' || echo none runs
        ls /etc/systemd/system/multi-user.target.wants/mon-agent.service 2>&1 | grep -c 'No such file'`);
      expect(output).to.deep.equal(['active', 'inactive', 'none runs', '1']);
    });
  });
}
