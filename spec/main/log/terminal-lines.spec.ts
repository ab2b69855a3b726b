import { expect } from 'chai';
import { createLogger } from '../../../src/main/log/logger.ts';
import { terminalLines } from '../../../src/main/log/terminal-lines.ts';

/** Returns what a terminal shows of the lines that `write` logs, without the times. */
function shown(write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  const lines = terminalLines({ write: (line) => (text += line) }, 'mon-backend');
  write(createLogger('mon-backend', 'info', lines));
  return text.replaceAll(/^\d\d:\d\d:\d\d /gm, '');
}

describe('a log line on a terminal', () => {
  it('has the level, the message and the fields as text', () => {
    expect(shown((log) => log.warn({ api: '[::]:8080', port: 1 }, 'backend is running'))).to.equal(
      'warning: backend is running (api=[::]:8080, port=1)\n',
    );
  });

  it('begins with the local time', () => {
    let text = '';
    createLogger('x', 'info', terminalLines({ write: (line) => (text += line) }, 'x')).info({}, 'started');
    expect(text).to.match(/^\d\d:\d\d:\d\d info: started\n$/);
  });

  it('names the component when it is not the program itself', () => {
    expect(shown((log) => log.child({ component: 'tls' }).info({}, 'loaded'))).to.equal('info: tls: loaded\n');
  });

  it('has the text of an error, without its stack', () => {
    const text = shown((log) => log.fatal({ err: new Error('disk on fire') }, 'could not start'));
    expect(text).to.equal('fatal: could not start: disk on fire\n');
  });

  it('shows the text of an error once when the message repeats it', () => {
    expect(shown((log) => log.fatal({ err: new Error('no store') }, 'no store'))).to.equal('fatal: no store\n');
  });

  it('hides secrets', () => {
    expect(shown((log) => log.info({ password: 'hunter2' }, 'login'))).to.equal('info: login (password=REDACTED)\n');
  });

  it('never passes control characters on, so that no peer can write to the terminal', () => {
    const evil = 'a\u001b[2Jb\rc\u009b31md\u007f\u202ee\nfatal: forged';
    const text = shown((log) => log.error({ entity: evil, err: new Error(evil), [`k${evil}`]: 1 }, evil));
    expect(text.trimEnd().split('\n')).to.have.lengthOf(1);
    expect(text.slice(0, -1)).not.to.match(/\p{C}/u);
  });

  it('keeps letters of all languages', () => {
    expect(shown((log) => log.info({ site: 'Zürich' }, '東京'))).to.equal('info: 東京 (site=Zürich)\n');
  });

  it('quotes values that have spaces or are empty', () => {
    expect(shown((log) => log.info({ a: 'b c', d: '', e: { f: 1 } }, 'm'))).to.equal(
      'info: m (a="b c", d="", e={"f":1})\n',
    );
  });
});
