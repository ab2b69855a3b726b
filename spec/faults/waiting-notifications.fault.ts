import { describeWaitingNotifications } from '../crash/waiting-notifications.ts';

describeWaitingNotifications(1_000);
