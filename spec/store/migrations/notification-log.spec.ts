import { expect } from 'chai';
import { convertNotifications, NOTIFICATION_LOG } from '../../../src/store/migrations/notification-log.ts';
import { notificationKey, notificationOfEventKey } from '../../../src/store/encoding/keyspace.ts';

const KEY = 'default/web/disk';

describe('the step to store version 5', () => {
  it('stores each notification under a number that increases with its time, and indexes it by event and by id', () => {
    const notifications = [
      { id: 'one', atMs: 1_700_000_000_000 },
      { id: 'two', atMs: 1_700_000_000_000 },
      { id: 'three', atMs: 1_699_999_999_000 },
    ];
    const writes = convertNotifications(KEY, notifications);
    expect(writes[0]).to.deep.equal({ table: 'notifications', key: KEY, payload: null });
    const written = new Map(writes.slice(1).map(({ table, key, payload }) => [`${table} ${key}`, String(payload)]));
    const expected = notifications.flatMap((notification, index) => {
      const number = 1_700_000_000_000_000 + index;
      return [
        [`notificationLog ${notificationKey(KEY, number)}`, JSON.stringify(notification)],
        [`notificationsByEvent ${notificationOfEventKey(KEY, number)}`, 'true'],
        [`notificationsById ${notification.id}`, JSON.stringify(notificationKey(KEY, number))],
      ];
    });
    expect([...written]).to.deep.equal(expected);
  });

  it('reads the lists of the former version', () => {
    const payload = Buffer.from(JSON.stringify([{ id: 'one', atMs: 7 }]));
    const [pass] = NOTIFICATION_LOG.passes;
    expect(pass?.writes({ key: KEY, payload })).to.have.lengthOf(4);
  });
});
