/** The least that the heap needs of a node: it orders nodes by time. */
interface Timed {
  atMs: number;
}

/** Adds a node to a binary heap whose first node is the earliest. */
export function pushNode<T extends Timed>(heap: T[], node: T): void {
  let index = heap.length;
  heap.push(node);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || above.atMs <= node.atMs) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = node;
}

/** Removes the first node. */
export function popNode(heap: Timed[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    const right = heap[child + 1];
    if (right !== undefined && right.atMs < (heap[child]?.atMs ?? Infinity)) child += 1;
    const below = heap[child];
    if (below === undefined || below.atMs >= last.atMs) break;
    heap[index] = below;
    index = child;
  }
  heap[index] = last;
}
