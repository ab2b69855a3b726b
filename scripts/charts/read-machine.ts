import type { AnyStateMachine, StateNode } from 'xstate';
import type { Chart, ChartTransition } from '../../web/src/machines/chart.ts';

/** The states and transitions of a machine. */
export type ReadMachine = Pick<Chart, 'states' | 'transitions'>;

type AnyStateNode = AnyStateMachine['root'];
type Definition = AnyStateNode['always'] extends readonly (infer T)[] | undefined ? T : never;

/** The texts that XState gives to transitions without an event of the domain. */
const AFTER = /^xstate\.after\.([^.]+)\./;

/** Reads the states and transitions of a machine. @throws Error for what charts do not draw: parallel and history states */
export function readMachine(machine: AnyStateMachine): ReadMachine {
  const read: ReadMachine = { states: [], transitions: [] };
  readState(machine.root, undefined, read);
  return read;
}

function readState(node: AnyStateNode, parent: AnyStateNode | undefined, read: ReadMachine): void {
  const { id, key, type, description = '', entry, exit, states } = node;
  if (type === 'parallel' || type === 'history') throw new Error(`${id} is a ${type} state, which charts do not draw`);
  read.states.push({
    id,
    name: key,
    ...(parent === undefined ? {} : { parent: parent.id }),
    type,
    description,
    ...(type === 'compound' ? { initial: initialOf(node) } : {}),
    entry: ownActions(entry),
    exit: ownActions(exit),
  });
  for (const [event, candidates] of node.transitions) read.transitions.push(...transitionsOf(node, event, candidates));
  if (node.always !== undefined && node.always.length > 0) {
    read.transitions.push(...transitionsOf(node, 'always', node.always));
  }
  for (const child of Object.values<AnyStateNode>(states)) readState(child, node, read);
}

function initialOf({ id, initial }: AnyStateNode): string {
  const [target] = initial.target ?? [];
  if (target === undefined) throw new Error(`${id} has no initial state`);
  return target.id;
}

function transitionsOf({ id }: AnyStateNode, eventType: string, candidates: readonly Definition[]): ChartTransition[] {
  const event = AFTER.exec(eventType)?.[1]?.replace(/^/, 'after ') ?? eventType;
  return candidates.map((candidate, index) => {
    const { guard, target, actions, description = '' } = candidate as Definition & { description?: string };
    const [to, ...others] = (target ?? []) as readonly StateNode[];
    if (others.length > 0) throw new Error(`a transition of ${id} has several targets, which charts do not draw`);
    return {
      id: `${id}|${event}|${index}`,
      source: id,
      ...(to === undefined ? {} : { target: to.id }),
      event,
      ...(guard === undefined ? {} : { guard: nameOf(guard as Named) }),
      isOtherwise:
        guard === undefined && candidates.slice(0, index).some(({ guard: earlier }) => earlier !== undefined),
      actions: ownActions(actions),
      description,
    };
  });
}

type Named = string | { type: string };

/** Without the actions by which XState keeps its timers. */
const ownActions = (actions: readonly unknown[]): string[] =>
  actions.map((action) => nameOf(action as Named)).filter((name) => !name.startsWith('xstate.'));

const nameOf = (named: Named): string => (typeof named === 'string' ? named : named.type);
