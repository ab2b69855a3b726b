import { join } from 'node:path';

export const storeDirectory = (stateDir: string): string => join(stateDir, 'store');

export const controlSocketPath = (stateDir: string): string => join(stateDir, 'control.sock');
