import { describeCrashLoop } from './crash-loop.ts';

describeCrashLoop(200);
