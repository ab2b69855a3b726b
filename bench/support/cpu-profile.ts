import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
  columnNumber: number;
}

interface Profile {
  nodes: { id: number; callFrame: CallFrame }[];
  startTime: number;
  samples: number[];
  timeDeltas: number[];
}

/** A function of the profiled program. */
export interface ProfiledFunction {
  name: string;
  /** The path of its source file; empty for what V8 and Node.js do themselves. */
  file: string;
}

/** Reads the profile in a directory and sums the own time of each function, in µs, between two instants of `process.hrtime`. */
export function ownTimes(directory: string, fromUs: number, toUs: number): Map<ProfiledFunction, number> {
  const [file] = readdirSync(directory).filter((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error('the backend has written no profile');
  const { nodes, startTime, samples, timeDeltas } = JSON.parse(readFileSync(join(directory, file), 'utf8')) as Profile;
  const sources = new Sources();
  const functions = new Map(nodes.map(({ id, callFrame }) => [id, sources.functionOf(callFrame)]));
  const times = new Map<ProfiledFunction, number>();
  let atUs = startTime;
  for (const [index, sample] of samples.entries()) {
    const own = functions.get(sample);
    const deltaUs = timeDeltas[index + 1] ?? 0;
    atUs += timeDeltas[index] ?? 0;
    if (own !== undefined && atUs >= fromUs && atUs < toUs) times.set(own, (times.get(own) ?? 0) + deltaUs);
  }
  return times;
}

/** Finds the source files of bundled code. */
class Sources {
  readonly #maps = new Map<string, SourceMap | undefined>();

  functionOf({ functionName: name, url, lineNumber, columnNumber }: CallFrame): ProfiledFunction {
    if (!url.startsWith('file:')) return { name, file: url };
    const path = fileURLToPath(url);
    const entry = this.#mapOf(path)?.findEntry(lineNumber, columnNumber);
    return { name, file: entry !== undefined && 'originalSource' in entry ? entry.originalSource : path };
  }

  #mapOf(path: string): SourceMap | undefined {
    if (!this.#maps.has(path)) {
      const map = `${path}.map`;
      this.#maps.set(path, existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, 'utf8'))) : undefined);
    }
    return this.#maps.get(path);
  }
}
