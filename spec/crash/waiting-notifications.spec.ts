import { describeWaitingNotifications } from './waiting-notifications.ts';

describeWaitingNotifications(150);
