import { createMachine, type AnyStateMachine } from 'xstate';
import { PUBLISHED_MACHINES } from '../../src/actors/inspection/published-machines.ts';
import type { Chart } from '../../web/src/machines/chart.ts';
import { layOut } from './lay-out.ts';
import { readMachine } from './read-machine.ts';

/** Lays out every machine that the API publishes, from the definition that it publishes. */
export function allCharts(): Promise<Chart[]> {
  return Promise.all(
    PUBLISHED_MACHINES.map(async ({ machine, definition }) => {
      const { id, version, description } = definition;
      const read = readMachine(createMachine(definition as never) as AnyStateMachine);
      const [wide, tall, small] = [await layOut(read, 'wide'), await layOut(read, 'tall'), await layOut(read, 'small')];
      const layouts = { wide, tall, small };
      return { machine, id, version, description, ...read, layouts };
    }),
  );
}
