import type { AnyStateMachine } from 'xstate';
import type { GuardRecord } from '../../store/ledger/ledger.ts';

type Guard = (args: unknown, params: unknown) => boolean;

/** Records the guards that are evaluated while one event is decided: name, result and inputs. */
export class GuardLog {
  #records: GuardRecord[] = [];

  /** Returns the machine with every guard recorded here. Call it once per machine, not per actor. */
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

  /** The guards recorded since `begin`. */
  taken(): GuardRecord[] {
    return this.#records;
  }
}
