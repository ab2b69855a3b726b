import type { AnyStateMachine, AnyStateNode, StateValue } from 'xstate';

/** Returns the path of a state, such as `registered.monitored`. */
export function pathOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  return Object.entries(value)
    .map(([name, nested]) => (nested === undefined ? name : `${name}.${pathOf(nested)}`))
    .join('|');
}

/** Returns the paths of all states without nested states, sorted. */
export function leavesOf({ root }: AnyStateMachine): string[] {
  const leaves = (node: AnyStateNode): AnyStateNode[] => {
    const children = Object.values(node.states);
    return children.length === 0 ? [node] : children.flatMap(leaves);
  };
  return leaves(root)
    .map(({ path }) => path.join('.'))
    .toSorted();
}
