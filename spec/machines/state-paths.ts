import type { AnyStateMachine, AnyStateNode, StateValue } from 'xstate';

/** A state of a machine without parallel regions, as `registered.monitored`. */
export function pathOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  return Object.entries(value)
    .map(([name, nested]) => (nested === undefined ? name : `${name}.${pathOf(nested)}`))
    .join('|');
}

/** The paths of all states that have no nested states, in order. */
export function leavesOf({ root }: AnyStateMachine): string[] {
  const leaves = (node: AnyStateNode): AnyStateNode[] => {
    const children = Object.values(node.states);
    return children.length === 0 ? [node] : children.flatMap(leaves);
  };
  return leaves(root)
    .map(({ path }) => path.join('.'))
    .toSorted();
}
