import { expect } from 'chai';
import { OpenSessions } from '../../../src/actors/agents/open-sessions.ts';

describe('the open sessions', () => {
  const session = (id: string, agentName = 'web', namespace = 'default') => ({ id, namespace, agentName });

  it('report an agent as connected until its last session has closed', () => {
    const sessions = new OpenSessions<ReturnType<typeof session>>();
    const isConnected = () => sessions.isConnected('default', 'web');
    expect(isConnected()).to.equal(false);
    sessions.add(session('a'));
    sessions.add(session('b'));
    sessions.add(session('c', 'web', 'other'));
    sessions.delete('a');
    expect(isConnected()).to.equal(true);
    sessions.delete('a');
    expect(isConnected()).to.equal(true);
    sessions.delete('b');
    expect(isConnected()).to.equal(false);
    expect(sessions.isConnected('other', 'web')).to.equal(true);
    expect([...sessions.ids()]).to.deep.equal(['c']);
  });

  it('are found by id and counted once', () => {
    const sessions = new OpenSessions<ReturnType<typeof session>>();
    const [first, again] = [session('a'), session('a')];
    sessions.add(first);
    sessions.add(again);
    expect(sessions.get('a')).to.equal(first);
    sessions.delete('a');
    expect(sessions.get('a')).to.equal(undefined);
    expect(sessions.isConnected('default', 'web')).to.equal(false);
  });
});
