import { describeCrashLoop } from './crash-loop.ts';

describeCrashLoop(1_000);
