import { readFileSync } from 'node:fs';

/** The value when the system reports none. */
const USUAL_LIMIT = 1_024;

/** Returns how many descriptors this process may have open, as of now. It may be `Infinity`. */
export function descriptorLimit(): number {
  const soft = limitOfProc() ?? limitOfReport() ?? USUAL_LIMIT;
  return soft === 'unlimited' ? Infinity : Number(soft);
}

function limitOfProc(): string | undefined {
  try {
    return /^Max open files +(\w+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  } catch {
    // Other systems than Linux have no such file.
    return undefined;
  }
}

function limitOfReport(): string | number | undefined {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: string | number } } };
  return userLimits?.open_files?.soft;
}
