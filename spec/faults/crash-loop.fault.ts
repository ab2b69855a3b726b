import { describeCrashLoop } from './crash-loop.ts';

describeCrashLoop(10_000);
