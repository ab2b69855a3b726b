import type { AnyStateMachine } from 'xstate';
import type { GuardRecord } from '../../store/ledger.ts';

type Guard = (args: unknown, params: unknown) => boolean;

/** The guards that were asked while one event was decided: name, result, and the numbers that decided it. */
export class GuardLog {
  #records: GuardRecord[] = [];

  /** The same machine, with every guard recorded here. Done once per machine, not per actor. */
  record<M extends AnyStateMachine>(machine: M): M {
    const guards = machine.implementations.guards as Record<string, Guard>;
    const recorded = Object.fromEntries(
      Object.entries(guards).map(([name, guard]) => [name, this.#recording(name, guard)]),
    );
    return machine.provide({ guards: recorded } as never) as M;
  }

  #recording(name: string, guard: Guard): Guard {
    return (args, inputs) => {
      const passed = guard(args, inputs);
      this.#records.push({ name, passed, inputs });
      return passed;
    };
  }

  begin(): void {
    if (this.#records.length > 0) this.#records = [];
  }

  /** What was recorded since `begin`. */
  taken(): GuardRecord[] {
    return this.#records;
  }
}
